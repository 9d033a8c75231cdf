import Foundation
import Sluice
import SluiceFoundation
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
                name: "old-bytes-one-by-one",
                summary:
                    "saving 16 MiB of chunks with progress; limit: a loop over bytes with a progress call for each",
                mark: .speedAtLeast(20),
                countsLimits: true
            ) { fixture, _ in
                let path = try fixture.sparseFile(bytesOneByOne)
                let body = try MultipartForm { Part.file("file", path: path) }.body()
                let target = fixture.directory + "/download"
                return .paired(
                    bytes: bytesOneByOne,
                    sluice: { try await saveChunks(body, to: target) },
                    limits: [("byte by byte", { try await saveBytes(body, to: target) })]
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

    private static let bytesOneByOne: Int64 = 16 << 20

    /// In both, the chunks of a body stand for those that arrive from a network.
    private static func saveChunks(_ body: MultipartBody, to path: String) async throws {
        let file = try Libc.create(path)
        defer { close(file) }
        let progress = Progress(total: body.contentLength)
        var position = 0
        for try await chunk in body.chunks(ofSize: ReaderRows.bufferSize) {
            unsafe try chunk.withUnsafeBytes { unsafe try Libc.writeAll(file, $0) }
            position += chunk.count
            progress.report(position)
        }
    }

    /// What somebody looks at from another thread.
    private final class Progress: Sendable {
        private let total: Double
        private let percent = Atomic(0)

        init(total: Int64?) { self.total = Double(total ?? 0) }

        func report(_ count: Int) { percent.store(Int(Double(count) / total * 100), ordering: .relaxed) }
    }

    /// As `URLSession`'s `AsyncBytes` are used, where the loop is all that there is.
    private static func saveBytes(_ body: MultipartBody, to path: String) async throws {
        let progress = Progress(total: body.contentLength)
        var data = Data()
        for try await byte in BytesOneByOne(chunks: body.chunks(ofSize: ReaderRows.bufferSize)) {
            data.append(byte)
            progress.report(data.count)
        }
        try data.write(to: URL(fileURLWithPath: path))
    }

    /// The shape of `AsyncBytes`: a buffer that is refilled, and handed out one byte at a time.
    private struct BytesOneByOne: AsyncSequence {
        typealias Element = UInt8
        let chunks: BodyChunks

        func makeAsyncIterator() -> Iterator { Iterator(chunks: chunks.makeAsyncIterator()) }

        struct Iterator: AsyncIteratorProtocol {
            var chunks: BodyChunks.Iterator
            var buffer: [UInt8] = []
            var next = 0

            mutating func next(isolation actor: isolated (any Actor)?) async throws(MultipartError) -> UInt8? {
                if next == buffer.count {
                    guard let chunk = try await chunks.next(isolation: actor) else { return nil }
                    (buffer, next) = (chunk, 0)
                }
                defer { next += 1 }
                return buffer[next]
            }
        }
    }
}
