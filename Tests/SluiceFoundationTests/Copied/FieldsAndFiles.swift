import Foundation
import SluiceFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// An upload as it is written around the web with a form type of its own, with only the lines changed that name that
// type. It is here to compile; keep it as it is.

func uploadRequest(to url: URL, title: String, photo: Data) -> URLRequest {
    var form = FormData()
    form.addField(name: "title", value: title)
    form.addFile(name: "photo", filename: "beach.jpg", mimeType: "image/jpeg", data: photo)

    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.setValue(form.contentType, forHTTPHeaderField: "Content-Type")
    request.httpBody = form.encode()
    return request
}

func uploadRequest(to url: URL, fields: [(String, String)], boundary: String) -> URLRequest {
    var form = FormData(boundary: boundary)
    for (name, value) in fields {
        form.addField(name: name, value: value)
    }
    let body = form.encode()

    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.setValue("\(body.count)", forHTTPHeaderField: "Content-Length")
    request.setValue(form.contentType, forHTTPHeaderField: "Content-Type")
    request.httpBody = body
    return request
}
