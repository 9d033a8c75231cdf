// Uploads a log, compressed as it is sent, and shows how far that is.
import Sluice
import SluiceCurl

func upload(log path: String, to url: String) async throws {
    var form = MultipartForm()
    try form.append(Part.file("log", path: path).gzip())

    let client = CurlClient()
    let response = try await client.upload(form.body(), to: url) { progress in
        guard let source = progress.source else { return }
        print(source.completedBytes, "bytes read,", progress.completedBytes, "sent")
    }
    print(response.status)
}
