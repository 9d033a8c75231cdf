#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A system call of a test's own failed.
package struct SystemFailure: Error, CustomStringConvertible {
    package let description: String

    package init(_ call: String) {
        description = unsafe "\(call): \(String(cString: strerror(errno)))"
    }
}

/// What a test does to files behind the engine's back.
package enum Files {
    package static func append(_ bytes: [UInt8], to path: String) throws {
        let descriptor = try Self.descriptor(of: path, O_WRONLY | O_APPEND)
        defer { Self.close(descriptor) }
        guard unsafe write(descriptor, bytes, bytes.count) == bytes.count else { throw SystemFailure("write \(path)") }
    }

    package static func cut(_ path: String, to size: Int64) throws {
        guard unsafe truncate(path, off_t(size)) == 0 else { throw SystemFailure("truncate \(path)") }
    }

    /// Writes at an offset of a file that is there.
    package static func overwrite(_ path: String, at offset: Int64, _ bytes: [UInt8]) throws {
        let descriptor = try Self.descriptor(of: path, O_WRONLY)
        defer { Self.close(descriptor) }
        guard unsafe pwrite(descriptor, bytes, bytes.count, off_t(offset)) == bytes.count else {
            throw SystemFailure("pwrite \(path)")
        }
    }

    /// Sets the time of the last modification to one in the past, and nothing else.
    package static func touch(_ path: String) throws {
        let times = [timespec(tv_sec: 1_000_000, tv_nsec: 1), timespec(tv_sec: 1_000_000, tv_nsec: 1)]
        guard unsafe utimensat(AT_FDCWD, path, times, 0) == 0 else { throw SystemFailure("utimensat \(path)") }
    }

    package static func remove(_ path: String) throws {
        guard unsafe unlink(path) == 0 else { throw SystemFailure("unlink \(path)") }
    }

    package static func removeIfThere(_ path: String) throws {
        if unsafe unlink(path) != 0, errno != ENOENT { throw SystemFailure("unlink \(path)") }
    }

    package static func move(_ path: String, to newPath: String) throws {
        guard unsafe rename(path, newPath) == 0 else { throw SystemFailure("rename \(path)") }
    }

    package static func makeDirectory(_ path: String) throws {
        guard unsafe mkdir(path, 0o755) == 0 else { throw SystemFailure("mkdir \(path)") }
    }

    package static func makeFIFO(_ path: String) throws {
        guard unsafe mkfifo(path, 0o644) == 0 else { throw SystemFailure("mkfifo \(path)") }
    }

    package static func makeLink(_ path: String, to target: String) throws {
        guard unsafe symlink(target, path) == 0 else { throw SystemFailure("symlink \(path)") }
    }

    /// Makes a socket that has a path.
    package static func makeSocket(_ path: String) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw SystemFailure("socket") }
        defer { Self.close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else { throw SystemFailure("bind \(path)") }
    }

    /// What is in a directory, hidden files too, in order.
    package static func names(in path: String) throws -> [String] {
        guard let directory = unsafe opendir(path) else { throw SystemFailure("opendir \(path)") }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// A file's permissions.
    package static func mode(_ path: String) throws -> UInt32 {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw SystemFailure("stat \(path)") }
        return UInt32(status.st_mode & 0o777)
    }

    /// Sets a file's permissions.
    package static func setMode(_ path: String, _ mode: UInt32) throws {
        guard unsafe chmod(path, mode_t(mode)) == 0 else { throw SystemFailure("chmod \(path)") }
    }

    /// A descriptor of the file.
    package static func descriptor(of path: String, _ flags: Int32 = 0) throws -> Int32 {
        let descriptor = unsafe open(path, flags | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw SystemFailure("open \(path)") }
        return descriptor
    }

    package static func close(_ descriptor: Int32) {
        _ = systemClose(descriptor)
    }

    /// The paths of what this process has open, which tell one test's files from another's.
    package static func openPaths(under directory: String) -> [String] {
        ProcessState.openDescriptors().values.filter { $0.hasPrefix(directory) }
    }
}

/// The system's `close`, which ``Files/close(_:)`` hides.
private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }
