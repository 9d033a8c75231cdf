// Uploads a form with URLSession, exactly framed and read from the file as it is sent.
import Foundation
import Sluice
import SluiceFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

let form = try MultipartForm {
    Part.field("title", "Holiday")
    Part.file("film", path: "/data/film.mkv")
}

func upload(_ form: MultipartForm, to url: URL) async throws -> SessionResponse? {
    for try await event in URLSession.shared.uploadEvents(try form.body(), for: URLRequest(url: url)) {
        switch event {
        case .progress(let progress): print(progress.completedBytes, "of", progress.totalBytes ?? -1, "bytes")
        case .response(let response): return response
        }
    }
    return nil
}

if let url = URL(string: "https://example.org/upload"), let response = try await upload(form, to: url) {
    print(response.status, String(decoding: response.body, as: UTF8.self))
}
