internal import CSluiceShims
import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// `MultipartBody.write(to:)` against the kernel's own ways.
enum WriteRows {
    static var all: [Row] {
        [
            Row(
                name: "write-file",
                summary: "write(to:) of one large file to a file; limit: copy_file_range",
                mark: .speedAtLeast(0.95)
            ) { fixture, options in
                let path = try fixture.largeFile()
                let body = try MultipartForm { Part.file("file", path: path) }.body()
                let target = fixture.directory + "/copy"
                return .paired(
                    bytes: options.size,
                    sluice: { try withFile(target) { try body.write(to: $0) } },
                    limits: [("copy_file_range", { try withFile(target) { try copyFileRange(path, to: $0) } })]
                )
            },
            Row(
                name: "write-socket",
                summary: "write(to:) of one large file to a socket; limit: the better of sendfile and pread+write",
                mark: .speedAtLeast(0.95)
            ) { fixture, options in
                let path = try fixture.largeFile()
                let body = try MultipartForm { Part.file("file", path: path) }.body()
                let sink = try Sink()
                let buffer = Libc.Buffer(256 * 1024)
                return .paired(
                    bytes: options.size,
                    sluice: { try sink.receive { try body.write(to: $0) } },
                    limits: [
                        ("sendfile", { try sink.receive { try sendFile(path, to: $0) } }),
                        ("pread+write", { try sink.receive { try preadWrite(path, to: $0, buffer) } }),
                    ]
                )
            },
        ]
    }

    private static func withFile(_ path: String, _ body: (Int32) throws -> Void) throws {
        let descriptor = try Libc.create(path)
        defer {
            close(descriptor)
            unsafe unlink(path)
        }
        try body(descriptor)
    }

    private static func copyFileRange(_ path: String, to target: Int32) throws {
        let source = try Libc.openForReading(path)
        defer { close(source) }
        var offset: Int64 = 0
        while try Libc.check("copy_file_range", unsafe sluice_copy_file_range(source, &offset, target, 1 << 30)) > 0 {}
    }

    private static func sendFile(_ path: String, to target: Int32) throws {
        let source = try Libc.openForReading(path)
        defer { close(source) }
        var offset: Int64 = 0
        while try Libc.check("sendfile", unsafe sluice_sendfile(target, source, &offset, 1 << 30)) > 0 {}
    }

    static func preadWrite(_ path: String, to target: Int32, _ buffer: Libc.Buffer) throws {
        let source = try Libc.openForReading(path)
        defer { close(source) }
        var offset: off_t = 0
        while true {
            let count = try Libc.check(
                "pread",
                unsafe pread(source, buffer.bytes.baseAddress, buffer.bytes.count, offset)
            )
            if count == 0 { return }
            unsafe try Libc.writeAll(target, UnsafeRawBufferPointer(rebasing: buffer.bytes[..<count]))
            offset += off_t(count)
        }
    }
}
