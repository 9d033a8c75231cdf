import SluiceTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension TemporaryDirectory {
    private struct Failure: Error {}

    /// The names of what is in it, in order.
    func names() throws -> [String] {
        guard let directory = unsafe opendir(path) else { throw Failure() }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe String(cString: UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// A file's permission bits.
    func mode(of path: String) throws -> mode_t { try status(of: path).st_mode & 0o7777 }

    /// Whose a file is.
    func owner(of path: String) throws -> uid_t { try status(of: path).st_uid }

    /// A file's bytes.
    func size(of path: String) throws -> Int { Int(try status(of: path).st_size) }

    /// Changes bytes in the middle of a file.
    func overwrite(_ name: String, at offset: Int, _ bytes: [UInt8]) throws {
        let descriptor = unsafe open("\(path)/\(name)", O_WRONLY | O_CLOEXEC)
        defer { close(descriptor) }
        guard unsafe pwrite(descriptor, bytes, bytes.count, off_t(offset)) == bytes.count else { throw Failure() }
    }

    private func status(of path: String) throws -> stat {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw Failure() }
        return status
    }
}

extension ServerProcess {
    /// Puts a file where nginx gives it out as `/store/NAME`.
    func store(_ name: String, _ content: [UInt8]) throws {
        let path = "\(directory ?? "")/store/\(name)"
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        defer { close(descriptor) }
        try writeAll(content, to: descriptor)
    }
}
