import Foundation
import Sluice
import SluiceCurl
internal import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What is written where there is no Sluice, written plainly, and what it costs beside it.
enum OldWayRows {
    static var all: [Row] {
        [
            Row(
                name: "old-body-in-memory",
                summary: "reading a body with one large file; limit: a body of appended Data, encoded twice",
                mark: .speedAtLeast(3),
                countsLimits: true
            ) { fixture, options in
                let path = try fixture.largeFile()
                let body = try MultipartForm { Part.file("file", path: path) }.body()
                let buffer = Libc.Buffer(ReaderRows.bufferSize)
                return .paired(
                    bytes: options.size,
                    sluice: { try ReaderRows.drain(body, buffer) },
                    limits: [("appended Data", { try sendEncodedTwice(path, buffer) })]
                )
            },
            Row(
                name: "old-download",
                summary: "downloading 8 MiB to a file with progress; limit: a loop over its bytes, progress for each",
                mark: .speedAtLeast(20),
                countsLimits: true
            ) { fixture, _ in
                let sink = try Sink()
                let client = CurlClient()
                let request = CurlRequest(url: "\(sink.url)\(downloadSize)")
                let target = fixture.directory + "/download"
                let progress = Percent()
                return .paired(
                    bytes: downloadSize,
                    sluice: {
                        unsafe unlink(target)
                        _ = try await client.download(request, toFile: target) { report in
                            progress.show(report.fractionCompleted ?? 0)
                        }
                    },
                    limits: [
                        (
                            "byte by byte",
                            {
                                unsafe unlink(target)
                                let chunks = try await client.downloadChunks(request).chunks
                                try await saveByteByByte(chunks, to: target, progress)
                            }
                        )
                    ]
                )
            },
        ]
    }

    // MARK: A body of appended Data

    /// The length is asked of one encoding, and another one is sent.
    private static func sendEncodedTwice(_ path: String, _ buffer: Libc.Buffer) throws {
        let length = try encode(path).count
        let body = try encode(path)
        guard body.count == length else { throw CocoaError(.fileReadUnknown) }
        // What a client does with it: it copies it into its own buffer.
        var offset = 0
        while offset < body.count {
            let end = min(offset + ReaderRows.bufferSize, body.count)
            unsafe _ = body.copyBytes(to: buffer.bytes, from: offset..<end)
            offset = end
        }
    }

    private static func encode(_ path: String) throws -> Data {
        let boundary = "Boundary-\(UUID().uuidString)"
        var body = Data()
        body.append(Data("--\(boundary)\r\n".utf8))
        body.append(Data("Content-Disposition: form-data; name=\"file\"; filename=\"large\"\r\n".utf8))
        body.append(Data("Content-Type: application/octet-stream\r\n\r\n".utf8))
        body.append(try Data(contentsOf: URL(fileURLWithPath: path)))
        body.append(Data("\r\n--\(boundary)--\r\n".utf8))
        return body
    }

    // MARK: A download byte by byte

    private static let downloadSize: Int64 = 8 << 20

    /// What somebody looks at from another thread.
    private final class Percent: Sendable {
        private let percent = Atomic(0)

        func show(_ fraction: Double) { percent.store(Int(fraction * 100), ordering: .relaxed) }
    }

    /// As `URLSession`'s `AsyncBytes` are used, where the loop is all that there is.
    private static func saveByteByByte(_ chunks: ResponseChunks, to path: String, _ progress: Percent) async throws {
        var data = Data()
        for try await byte in Bytes(chunks: chunks) {
            data.append(byte)
            progress.show(Double(data.count) / Double(downloadSize))
        }
        try data.write(to: URL(fileURLWithPath: path))
    }

    /// The shape of `AsyncBytes`: a buffer that is refilled, and handed out one byte at a time.
    private struct Bytes: AsyncSequence {
        typealias Element = UInt8
        let chunks: ResponseChunks

        func makeAsyncIterator() -> Iterator { Iterator(chunks: chunks.makeAsyncIterator()) }

        struct Iterator: AsyncIteratorProtocol {
            var chunks: ResponseChunks.Iterator
            var buffer: [UInt8] = []
            var position = 0

            mutating func next(isolation actor: isolated (any Actor)?) async throws(TransferError) -> UInt8? {
                if position == buffer.count {
                    guard let chunk = try await chunks.next(isolation: actor) else { return nil }
                    (buffer, position) = (chunk, 0)
                }
                defer { position += 1 }
                return buffer[position]
            }
        }
    }
}
