import Sluice
import SluiceCurl

/// One large file, what uploads it, and who receives it on loopback in another process.
struct LargeUpload {
    let path: String
    let body: MultipartBody
    let sink: Sink
    let client = CurlClient()
    let request: CurlRequest

    init(_ path: String) throws {
        self.path = path
        body = try MultipartForm { Part.file("file", path: path) }.body()
        sink = try Sink()
        var request = CurlRequest(url: sink.url)
        // Neither side asks for leave first.
        request.expectContinue = .never
        self.request = request
    }
}
