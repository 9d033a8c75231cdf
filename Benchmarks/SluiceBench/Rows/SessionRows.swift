import Foundation
import Sluice
import SluiceFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Uploads by `URLSession`, measured against what it can do at most.
enum SessionRows {
    static var all: [Row] {
        [
            Row(
                name: "upload-urlsession",
                summary: "URLSession.upload of one large file; limit: a task whose stream has nothing to read",
                mark: .speedAtLeast(0.8)
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
                    limits: [("URLSession with zeros", { try await sendZeros(body.contentLength ?? 0, to: sink) })]
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

    /// The same request, framed in the same way, by a task of one's own.
    private static func sendZeros(_ count: Int64, to sink: Sink) async throws {
        var request = try request(to: sink)
        request.httpMethod = "POST"
        request.httpBodyStream = ZeroStream(count)
        request.setValue("\(count)", forHTTPHeaderField: "Content-Length")
        #if canImport(FoundationNetworking)
        request.setValue(" ", forHTTPHeaderField: "Transfer-Encoding")
        #endif
        let response = try await URLSession(configuration: .ephemeral).data(for: request).1
        let status = (response as? HTTPURLResponse)?.statusCode
        guard status == 200 else { throw Refused(status: status) }
    }
}

/// A stream of as many zeros, which cost nothing to read.
private final class ZeroStream: InputStream {
    private var left: Int64
    private var isOpen = false

    init(_ count: Int64) {
        left = count
        super.init(data: Data())
    }

    override func open() { isOpen = true }
    override func close() {}
    override var streamStatus: Stream.Status { isOpen ? .open : .notOpen }
    override var streamError: (any Error)? { nil }
    override var hasBytesAvailable: Bool { left > 0 }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        // What is in the buffer is sent as it is: the receiver does not look.
        let count = Int(min(Int64(maxLength), left))
        left -= Int64(count)
        return count
    }
}
