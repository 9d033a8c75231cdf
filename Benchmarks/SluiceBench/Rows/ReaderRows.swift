import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// `BodyReader` against the calls that it is made of.
enum ReaderRows {
    static let bufferSize = 256 * 1024

    static var all: [Row] {
        [
            Row(
                name: "reader-file",
                summary: "BodyReader over one large file, 256 KiB buffer; limit: a bare pread loop",
                mark: .speedAtLeast(0.97)
            ) { fixture, options in
                let path = try fixture.largeFile()
                let body = try MultipartForm { Part.file("file", path: path) }.body()
                let buffer = Libc.Buffer(bufferSize)
                return .paired(
                    bytes: options.size,
                    sluice: { try drain(body, buffer) },
                    limits: [("pread", { try preadLoop(path, buffer) })]
                )
            },
            Row(
                name: "reader-memory-parts",
                summary: "10,000 parts of 4 KiB in memory; limit: memcpy of the same bytes",
                mark: .speedAtLeast(0.5)
            ) { _, _ in
                let parts = (0..<10_000).map { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: 4096) }
                var form = MultipartForm()
                for (index, bytes) in parts.enumerated() {
                    try form.append(.file("part\(index)", bytes: bytes, filename: "\(index).bin"))
                }
                let body = try form.body()
                let buffer = Libc.Buffer(bufferSize)
                return .paired(
                    bytes: 10_000 * 4096,
                    sluice: { try drain(body, buffer) },
                    limits: [("memcpy", { copyLoop(parts, buffer) })]
                )
            },
            Row(
                name: "reader-file-parts",
                summary: "10,000 file parts of 4 KiB; limit: open, pread, close of the same files",
                mark: .timeAtMost(1.3)
            ) { fixture, _ in
                let paths = try fixture.smallFiles(10_000, of: 4096)
                var form = MultipartForm()
                for path in paths { try form.addFile(name: "file", path: path) }
                let body = try form.body()
                let buffer = Libc.Buffer(bufferSize)
                return .paired(
                    bytes: 10_000 * 4096,
                    sluice: { try drain(body, buffer) },
                    limits: [("open+pread+close", { try openReadClose(paths, buffer) })]
                )
            },
        ]
    }

    static func drain(_ body: MultipartBody, _ buffer: Libc.Buffer) throws {
        let reader = try body.makeReader()
        while unsafe try reader.read(into: buffer.bytes) > 0 {}
    }

    static func preadLoop(_ path: String, _ buffer: Libc.Buffer) throws {
        let descriptor = try Libc.openForReading(path)
        defer { close(descriptor) }
        var offset: off_t = 0
        while true {
            let count = try Libc.check(
                "pread",
                unsafe pread(descriptor, buffer.bytes.baseAddress, buffer.bytes.count, offset)
            )
            if count == 0 { return }
            offset += off_t(count)
        }
    }

    /// The parts one behind the other into the buffer, which is used from the start again when it is full: what any
    /// reader of memory must do at the least.
    private static func copyLoop(_ parts: [[UInt8]], _ buffer: Libc.Buffer) {
        var filled = 0
        for part in parts {
            if filled + part.count > bufferSize { filled = 0 }
            unsafe part.withUnsafeBytes { bytes in
                unsafe UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[filled...]).copyMemory(from: bytes)
            }
            filled += part.count
        }
    }

    private static func openReadClose(_ paths: [String], _ buffer: Libc.Buffer) throws {
        for path in paths {
            let descriptor = try Libc.openForReading(path)
            try Libc.check("pread", unsafe pread(descriptor, buffer.bytes.baseAddress, buffer.bytes.count, 0))
            close(descriptor)
        }
    }
}
