// Downloads to a file with URLSession, in place of the stream around a download delegate that is copied around: that one
// leaks its session, is never cancelled, loses the file before anybody sees it, and saves a 404's page.
import Foundation
import Sluice
import SluiceFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

func download(_ url: URL, to file: URL) async throws {
    // Leaving the loop, or cancelling its task, ends the transfer.
    for try await event in URLSession.shared.download(for: URLRequest(url: url), to: file) {
        switch event {
        case .progress(let progress): print(progress.completedBytes, "of", progress.totalBytes ?? -1, "bytes")
        case .completed(let file): print("in its place:", file.path)
        case .failed(let error): print("the old file is as it was:", error)
        }
    }
}

if let url = URL(string: "https://example.org/film.mkv") {
    try await download(url, to: URL(fileURLWithPath: "film.mkv"))
}
