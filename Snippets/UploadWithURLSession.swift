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

func upload(_ form: MultipartForm, to url: URL) async throws -> Data {
    var request = URLRequest(url: url)
    let upload = request.setMultipartBody(try form.body())
    do {
        return try await URLSession.shared.data(for: request).0
    } catch {
        // What the engine says of it, where it was a part that failed.
        throw upload.error ?? error
    }
}

if let url = URL(string: "https://example.org/upload") {
    print(try await upload(form, to: url).count, "bytes came back")
}
