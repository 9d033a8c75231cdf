// Uploads a form with a large file over libcurl, and shows its progress.
import Sluice
import SluiceCurl

var form = MultipartForm()
try form.addField(name: "title", value: "Holiday")
try form.addFile(name: "film", path: "/data/film.mkv")

let client = CurlClient()
let response = try await client.upload(form.body(), to: "https://example.org/upload") { progress in
    print(progress.completedBytes, "of", progress.totalBytes ?? -1, "bytes")
}
print(response.status, String(decoding: response.body, as: UTF8.self))
