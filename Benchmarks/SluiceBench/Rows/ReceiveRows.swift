#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Uploads from curl to a receiver that stores them.
enum ReceiveRows {
    static var all: [Row] {
        [
            Row(
                name: "receive-tool",
                summary:
                    "`curl -F` to `sluice receive`; limit: to nginx with client_body_in_file_only, 256 KiB buffers",
                mark: .speedAtLeast(1)
            ) { fixture, options in
                guard let curl = Child.onPath("curl") else { return .absent("curl is not installed") }
                guard let nginx = Child.onPath("nginx") ?? onPathOfRoot("nginx") else {
                    return .absent("nginx is not installed")
                }
                guard let receiver = try Receiver.sluice(fixture) else {
                    return .absent("build the product sluice first")
                }
                let limit = try Receiver.nginx(nginx, fixture)
                let path = try fixture.largeFile()
                return .paired(
                    bytes: options.size,
                    sluice: { try receiver.take(path, from: curl) },
                    limits: [("nginx", { try limit.take(path, from: curl) })]
                )
            },
            Row(
                name: "rss-tool-receive",
                summary: "peak memory of `sluice receive` that takes in one large file",
                mark: .valueAtMost(24, "MiB")
            ) { fixture, options in
                guard let curl = Child.onPath("curl") else { return .absent("curl is not installed") }
                guard let receiver = try Receiver.sluice(fixture) else {
                    return .absent("build the product sluice first")
                }
                try receiver.take(try fixture.largeFile(), from: curl)
                guard let peak = receiver.peakMebibytes else { return .absent("this system does not say") }
                return .value(peak, details: "\(options.mebibytes) MiB")
            },
        ]
    }

    /// Debian keeps what users are not to start out of their PATH.
    private static func onPathOfRoot(_ name: String) -> String? {
        ["/usr/sbin", "/usr/local/sbin"].map { "\($0)/\(name)" }.first { unsafe access($0, X_OK) == 0 }
    }
}

/// A receiver in a process of its own, and the directory into which it stores.
private final class Receiver {
    private let process: Child
    private let url: String
    private let inbox: String

    private init(_ process: Child, url: String, inbox: String) {
        self.process = process
        self.url = url
        self.inbox = inbox
    }

    deinit {
        process.terminate()
    }

    var peakMebibytes: Double? { process.peakMebibytes }

    /// Uploads a file, and removes what was stored.
    func take(_ path: String, from curl: String) throws {
        try Child(curl, ["-s", "-f", url, "-F", "file=@\(path)"], output: "/dev/null").wait()
        var removed = 0
        try Files.forEach(in: inbox) { name in
            try Libc.check("unlink", unsafe unlink("\(inbox)/\(name)"))
            removed += 1
        }
        guard removed == 1 else { throw Libc.Failure(call: "\(removed) files were stored", code: EINVAL) }
    }

    /// Starts `sluice receive`; nil where it is not built.
    static func sluice(_ fixture: Fixture) throws -> Receiver? {
        let tool = try Child.besideThis("sluice")
        guard unsafe access(tool, X_OK) == 0 else { return nil }
        let inbox = try fixture.newDirectory()
        let log = "\(inbox).url"
        close(try Libc.create(log))
        // It says what it stored, which is nothing to read here.
        let script = #"exec "$0" "$@" 2>/dev/null"#
        let process = try Child(
            "/bin/sh",
            ["-c", script, tool, "receive", "--port", "0", "--into", inbox],
            output: log
        )
        let url = try Files.firstLine(of: log, within: 30)
        return Receiver(process, url: url, inbox: inbox)
    }

    /// Starts an nginx that stores bodies as they are.
    static func nginx(_ program: String, _ fixture: Fixture) throws -> Receiver {
        let directory = try fixture.newDirectory()
        let inbox = try fixture.newDirectory()
        let configuration = "\(directory)/nginx.conf"
        let port = try Libc.freePort()
        let temporary = ["proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(directory)/\($0);" }.joined()
        let text = """
            daemon off; master_process off; worker_processes 1; pid \(directory)/pid; error_log \(directory)/log;
            \(getuid() == 0 ? "user root;" : "")
            events { worker_connections 64; }
            http {
                access_log off; client_max_body_size 0; client_body_buffer_size 256k;
                client_body_temp_path \(inbox); \(temporary)
                server {
                    listen 127.0.0.1:\(port);
                    location / {
                        # nginx reads a body only if something wants it.
                        client_body_in_file_only on;
                        proxy_pass http://unix:\(directory)/backend:;
                        proxy_pass_request_body off;
                        proxy_set_header Content-Length "";
                    }
                }
                server { listen unix:\(directory)/backend; location / { return 200 "stored"; } }
            }

            """
        let file = try Libc.create(configuration)
        defer { close(file) }
        try unsafe Array(text.utf8).withUnsafeBytes { unsafe try Libc.writeAll(file, $0) }
        let process = try Child(program, ["-e", "\(directory)/log", "-c", configuration], output: "/dev/null")
        // The file is written once it listens.
        _ = try Files.firstLine(of: "\(directory)/pid", within: 30)
        return Receiver(process, url: "http://127.0.0.1:\(port)/", inbox: inbox)
    }
}

private enum Files {
    /// Calls with the name of each file in a directory.
    static func forEach(in path: String, _ body: (String) throws -> Void) throws {
        guard let directory = unsafe opendir(path) else { throw Libc.Failure(call: "opendir \(path)", code: errno) }
        defer { unsafe closedir(directory) }
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if !name.hasPrefix(".") { try body(name) }
        }
    }

    /// The first line of a file that somebody else is about to write.
    static func firstLine(of path: String, within seconds: Double) throws -> String {
        let deadline = Libc.seconds() + seconds
        while Libc.seconds() < deadline {
            if let file = try? Libc.openForReading(path) {
                defer { close(file) }
                var bytes = [UInt8](repeating: 0, count: 256)
                let count = try Libc.check("read \(path)", unsafe read(file, &bytes, bytes.count))
                if let end = bytes[..<count].firstIndex(of: UInt8(ascii: "\n")) {
                    return String(decoding: bytes[..<end], as: UTF8.self)
                }
            }
            usleep(10_000)
        }
        throw Libc.Failure(call: "waiting for \(path)", code: ETIMEDOUT)
    }
}
