internal import CSluiceBench

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The files that the rows read, made when they are first asked for and removed at the end, also after Ctrl-C.
final class Fixture {
    let directory: String
    private let options: Options

    init(_ options: Options) throws {
        self.options = options
        let base = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/sluice-bench.XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw Libc.Failure(call: "mkdtemp in \(base)", code: errno)
        }
        directory = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        Cleanup.remember(directory)
    }

    deinit { Cleanup.removeAll() }

    /// A file of pseudo-random bytes, as large as the options say, in the page cache.
    func largeFile() throws -> String {
        let path = directory + "/large"
        guard unsafe access(path, R_OK) != 0 else { return path }
        let descriptor = try Libc.create(path)
        defer { close(descriptor) }
        var state: UInt64 = 88_172_645_463_325_252
        let buffer = Libc.Buffer(1 << 20)
        for _ in 0..<options.mebibytes {
            unsafe buffer.bytes.withMemoryRebound(to: UInt64.self) { words in
                for index in words.indices {
                    state ^= state << 13
                    state ^= state >> 7
                    state ^= state << 17
                    unsafe words[index] = state
                }
            }
            unsafe try Libc.writeAll(descriptor, UnsafeRawBufferPointer(buffer.bytes))
        }
        // Written back now, not while something is measured.
        try Libc.check("fsync", fsync(descriptor))
        return path
    }

    /// A file of made-up lines of a log, a sixteenth of the large file's size, in the page cache.
    func textFile() throws -> String {
        let path = directory + "/text"
        guard unsafe access(path, R_OK) != 0 else { return path }
        let descriptor = try Libc.create(path)
        defer { close(descriptor) }
        var state: UInt64 = 88_172_645_463_325_252
        func random(_ bound: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state >> 33) % bound
        }
        let words = [
            "GET", "POST", "/index.html", "/api/v1/items", "/static/app.js", "Mozilla/5.0 (X11; Linux x86_64)", "INFO",
            "curl/7.88", "WARN", "connection reset", "timeout", "user", "session",
        ]
        for _ in 0..<max(options.mebibytes / 16, 1) {
            var text: [UInt8] = []
            text.reserveCapacity(1 << 20)
            while text.count < 1 << 20 {
                text += "2026-11-\(10 + random(20)) 12:\(10 + random(50)):\(10 + random(50)).\(random(1000)) ".utf8
                text += "host\(random(40)) \(words[random(words.count)])[\(random(30_000))]: ".utf8
                text += "\(words[random(words.count)]) \(words[random(words.count)])?id=\(random(10_000_000)) ".utf8
                text += "bytes=\(random(1_000_000)) trace=\(String(random(1 << 30), radix: 16))\n".utf8
            }
            unsafe try text.withUnsafeBytes { unsafe try Libc.writeAll(descriptor, .init(rebasing: $0[..<(1 << 20)])) }
        }
        return path
    }

    /// The bytes of ``textFile()``.
    var textSize: Int64 { Int64(max(options.mebibytes / 16, 1)) << 20 }

    /// A file without blocks, which the kernel reads as zeros.
    func sparseFile(_ size: Int64) throws -> String {
        let path = directory + "/sparse-\(size)"
        let descriptor = try Libc.create(path)
        defer { close(descriptor) }
        try Libc.check("ftruncate", ftruncate(descriptor, off_t(size)))
        return path
    }

    /// `count` files of `size` bytes each.
    func smallFiles(_ count: Int, of size: Int) throws -> [String] {
        let folder = directory + "/small"
        try Libc.check("mkdir", unsafe mkdir(folder, 0o700))
        let buffer = Libc.Buffer(size)
        return try (0..<count).map { index in
            let path = "\(folder)/\(index)"
            let descriptor = try Libc.create(path)
            defer { close(descriptor) }
            unsafe try Libc.writeAll(descriptor, UnsafeRawBufferPointer(buffer.bytes))
            return path
        }
    }
}

/// Removes the benchmark's directory, at the end and on the signals that end a program.
enum Cleanup {
    /// Written once before the handlers are set, and read by them.
    nonisolated(unsafe) private static var directory: UnsafeMutablePointer<CChar>?

    static func remember(_ path: String) {
        unsafe directory = strdup(path)
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { number in
                Cleanup.removeAll()
                _exit(128 + number)
            }
        }
    }

    static func removeAll() {
        guard let path = unsafe directory else { return }
        unsafe sluice_remove_tree(path)
    }
}
