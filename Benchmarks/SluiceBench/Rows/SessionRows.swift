import Foundation
import Sluice
import SluiceFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Uploads by `URLSession`, measured against what it does with a stream of its own.
enum SessionRows {
    static var all: [Row] {
        [
            Row(
                name: "upload-urlsession",
                summary: "URLSession.upload of one large file; limit: a task with Foundation's own stream",
                mark: .speedAtLeast(0.85),
                isCountedInShortSet: false
            ) { fixture, options in
                let path = try fixture.largeFile()
                let body = try MultipartForm { Part.file("file", path: path) }.body()
                let sink = try Sink()
                let session = URLSession(configuration: .ephemeral)
                return .paired(
                    bytes: options.size,
                    sluice: {
                        let response = try await session.upload(body, for: request(to: sink))
                        guard response.status == 200 else { throw Refused(status: response.status) }
                    },
                    limits: [("InputStream(fileAtPath:)", { try await send(path, options.size, to: sink) })]
                )
            }
        ]
    }

    private struct Refused: Error {
        var status: Int?
    }

    private static func request(to sink: Sink) throws -> URLRequest {
        guard let url = URL(string: sink.url) else { throw Refused() }
        return URLRequest(url: url)
    }

    /// The file alone as a body, framed in the same way, by a task of one's own.
    private static func send(_ path: String, _ count: Int64, to sink: Sink) async throws {
        var request = try request(to: sink)
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(fileAtPath: path)
        request.setValue("\(count)", forHTTPHeaderField: "Content-Length")
        #if canImport(FoundationNetworking)
        request.setValue(" ", forHTTPHeaderField: "Transfer-Encoding")
        #endif
        let response = try await URLSession(configuration: .ephemeral).data(for: request).1
        let status = (response as? HTTPURLResponse)?.statusCode
        guard status == 200 else { throw Refused(status: status) }
    }
}
