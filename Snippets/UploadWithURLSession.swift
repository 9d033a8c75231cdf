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
guard let url = URL(string: "https://example.org/upload") else { fatalError("not a URL") }
var request = URLRequest(url: url)
try request.setMultipartBody(form.body())

let (data, _) = try await URLSession.shared.data(for: request)
print(data.count, "bytes came back")
