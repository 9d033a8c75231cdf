// Downloads a file, goes on where it breaks off, and checks it: `swift run DownloadWithCurl URL FILE [SHA256]`.
import SluiceCurl

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count >= 2 else {
    print("usage: DownloadWithCurl URL FILE [SHA256]")
    throw CancellationError()
}
var request = CurlRequest(url: arguments[1])
request.retry = RetryPolicy(maximumAttempts: 5)
var options = FileDownloadOptions()
options.sha256 = arguments.count > 2 ? arguments[3] : nil

let client = CurlClient()
for await event in client.downloadEvents(request, toFile: arguments[2], options: options) {
    switch event {
    case .progress(let progress): print(progress.completedBytes, "of", progress.totalBytes ?? -1, "bytes")
    case .retrying(let notice): print("attempt \(notice.attempt) in \(notice.delay): \(notice.reason)")
    case .completed(let file): print("\(file.path): \(file.byteCount) bytes, \(file.resumedBytes) of them from before")
    case .failed(let error): print("failed: \(error)")
    }
}
await client.close()
