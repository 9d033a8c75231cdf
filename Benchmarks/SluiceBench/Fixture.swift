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
