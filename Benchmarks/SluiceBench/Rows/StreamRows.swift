import Foundation
import Sluice
import SluiceFoundation

/// `InputStream` against the calls that it is made of.
enum StreamRows {
    static var all: [Row] {
        [
            Row(
                name: "input-stream",
                summary: "the body's InputStream over one large file, 256 KiB buffer; limit: a bare pread loop",
                mark: .speedAtLeast(0.95)
            ) { fixture, options in
                let path = try fixture.largeFile()
                let body = try MultipartForm { Part.file("file", path: path) }.body()
                let buffer = Libc.Buffer(ReaderRows.bufferSize)
                return .paired(
                    bytes: options.size,
                    sluice: { try drain(body, buffer) },
                    limits: [("pread", { try ReaderRows.preadLoop(path, buffer) })]
                )
            }
        ]
    }

    private static func drain(_ body: MultipartBody, _ buffer: Libc.Buffer) throws {
        // As Foundation holds it: through the base class.
        let stream: InputStream = body.makeInputStream()
        stream.open()
        defer { stream.close() }
        let memory = unsafe buffer.bytes.assumingMemoryBound(to: UInt8.self)
        guard let start = memory.baseAddress else { return }
        while unsafe stream.read(start, maxLength: memory.count) > 0 {}
        if stream.streamStatus == .error, let error = stream.streamError { throw error }
    }
}
