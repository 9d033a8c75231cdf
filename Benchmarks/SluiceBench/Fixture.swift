internal import CSluiceBench

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The files that the rows read, made when they are first asked for.
final class Fixture {
    /// Of the row's own process: nobody else writes there.
    let directory: String
    /// Of the whole run, with the files that no row changes.
    private let shared: String
    private let options: Options
    private var directoryCount = 0

    init(_ job: Job) {
        directory = job.directory
        shared = job.shared
        options = job.options
    }

    /// A file of pseudo-random bytes, as large as the options say, in the page cache.
    func largeFile() throws -> String {
        let path = shared + "/large"
        guard unsafe access(path, R_OK) != 0 else { return path }
        let unfinished = path + ".part"
        let descriptor = try Libc.create(unfinished)
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
        try Libc.check("rename", unsafe rename(unfinished, path))
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
    ///
    /// It is in memory where that can be had: other file systems fill the page cache with zeros, which takes longer than
    /// all else, and leaves no room there for the files of other rows.
    func sparseFile(_ size: Int64) throws -> String {
        let memory = sluice_memory_file()
        let path = memory >= 0 ? "/proc/\(getpid())/fd/\(memory)" : directory + "/sparse-\(size)"
        let descriptor = memory >= 0 ? memory : try Libc.create(path)
        // Open until the process ends: it has no other name.
        defer { if memory < 0 { close(descriptor) } }
        try Libc.check("ftruncate", ftruncate(descriptor, off_t(size)))
        return path
    }

    /// An empty directory.
    func newDirectory() throws -> String {
        directoryCount += 1
        let path = "\(directory)/\(directoryCount)"
        try Libc.check("mkdir", unsafe mkdir(path, 0o700))
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
