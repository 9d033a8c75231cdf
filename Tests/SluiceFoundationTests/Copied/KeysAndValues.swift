import Foundation
import SluiceFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// As FieldsAndFiles.swift, in the other shape that is found everywhere, with its misspelt property.

func multipartRequest(to url: URL, parameters: [String: String], image: Data) -> URLRequest {
    var multipart = FormData()
    for field in parameters {
        multipart.add(key: field.key, value: field.value)
    }
    multipart.add(
        key: "file",
        fileName: "pic.png",
        fileMimeType: "image/png",
        fileData: image
    )

    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.setValue(multipart.httpContentTypeHeadeValue, forHTTPHeaderField: "Content-Type")
    request.httpBody = multipart.httpBody
    return request
}

func multipartRequest(to url: URL, text: String) -> URLRequest {
    var multipart = FormData(boundary: UUID().uuidString)
    multipart.add(key: "text", value: text)

    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.setValue(multipart.httpContentTypeHeaderValue, forHTTPHeaderField: "Content-Type")
    request.httpBody = multipart.httpBody
    return request
}
