import Sluice
import SluiceCurl

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Uploads over HTTP on loopback, to a receiver in another process.
enum UploadRows {
    static var all: [Row] {
        [
            Row(
                name: "upload-libcurl",
                summary: "CurlClient uploading one large file; limit: a bare pread+write of the same request",
                mark: .speedAtLeast(0.9)
            ) { fixture, options in
                let upload = try LargeUpload(fixture.largeFile())
                let buffer = Libc.Buffer(256 * 1024)
                return .paired(
                    bytes: options.size,
                    sluice: { _ = try await upload.client.upload(upload.body, upload.request) },
                    limits: [("pread+write", { try post(upload.path, to: upload.sink, buffer) })]
                )
            },
            Row(
                name: "upload-tool",
                summary: "`sluice upload -F file=@...` as a process; limit: `curl -F file=@...`",
                mark: .timeAtMost(0.92)
            ) { fixture, options in
                let tool = try Child.besideThis("sluice")
                guard unsafe access(tool, X_OK) == 0 else { return .absent("build the product sluice first") }
                guard let curl = Child.onPath("curl") else { return .absent("curl is not installed") }
                let path = try fixture.largeFile()
                let sink = try Sink()
                let form = ["-F", "file=@\(path)", "-H", "Expect:"]
                return .paired(
                    bytes: options.size,
                    sluice: { try run(tool, ["upload", sink.url, "--progress", "none"] + form) },
                    limits: [("curl -F", { try run(curl, ["-s", sink.url] + form) })]
                )
            },
        ]
    }

    private static func run(_ program: String, _ arguments: [String]) throws {
        try Child(program, arguments, output: "/dev/null").wait()
    }

    /// The request that a body with one file makes, by the calls that nobody can do without.
    private static func post(_ path: String, to sink: Sink, _ buffer: Libc.Buffer) throws {
        let source = try Libc.openForReading(path)
        let length = try Libc.check("lseek", lseek(source, 0, SEEK_END))
        close(source)
        let connection = try sink.connect()
        defer { close(connection) }
        let head = "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: \(length)\r\n\r\n"
        try unsafe Array(head.utf8).withUnsafeBytes { unsafe try Libc.writeAll(connection, $0) }
        try WriteRows.preadWrite(path, to: connection, buffer)
        var answer = [UInt8](repeating: 0, count: 256)
        try Libc.check("read", unsafe read(connection, &answer, answer.count))
    }
}
