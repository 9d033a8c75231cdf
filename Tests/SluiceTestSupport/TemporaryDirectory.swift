#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A directory of its own for a test, removed with all that is in it when the object is released.
package final class TemporaryDirectory: Sendable {
    package let path: String

    /// Makes it in the directory `base`, or in the one that `TMPDIR` says.
    package init(under base: String? = nil) throws {
        let base = unsafe base ?? getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/sluice-test-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw ChildProcess.Failure("no temporary directory") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        Self.remove(path)
    }

    /// Makes a file of the given bytes.
    ///
    /// - Returns: Its path.
    @discardableResult
    package func file(_ name: String, _ bytes: [UInt8]) throws -> String {
        let path = "\(path)/\(name)"
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw ChildProcess.Failure("\(path) cannot be made: errno \(errno)") }
        defer { close(descriptor) }
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe write(descriptor, $0.baseAddress?.advanced(by: written), $0.count - written)
            }
            guard count > 0 else { throw ChildProcess.Failure("\(path) cannot be written: errno \(errno)") }
            written += count
        }
        return path
    }

    /// Makes a file of zeros that takes no room.
    ///
    /// - Returns: Its path.
    @discardableResult
    package func sparseFile(_ name: String, size: Int) throws -> String {
        let path = try file(name, [])
        guard unsafe truncate(path, off_t(size)) == 0 else { throw ChildProcess.Failure("\(path) cannot be grown") }
        return path
    }

    /// The bytes of a file.
    package static func contents(ofFile path: String) throws -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ChildProcess.Failure("\(path) cannot be opened: errno \(errno)") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = unsafe read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }

    /// Bytes that are the same in every run and look like nothing in particular.
    package static func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        // A prime number of bytes and then the same again: quick, and no two buffers' worth are alike.
        let period = (0..<min(count, 65_521)).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state >> 32)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count { bytes += period.prefix(count - bytes.count) }
        return bytes
    }

    private static func remove(_ path: String) {
        if let directory = unsafe opendir(path) {
            while let entry = unsafe readdir(directory) {
                let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                    unsafe String(cString: UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
                }
                if name != ".", name != ".." { remove("\(path)/\(name)") }
            }
            unsafe closedir(directory)
            unsafe rmdir(path)
        } else {
            unsafe unlink(path)
        }
    }
}
