import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The directory into which received files go.
final class Inbox: Sendable {
    /// Its path, as the user gave it.
    let path: String
    /// It, opened once: whatever becomes of the path meanwhile, files go to the same place.
    let descriptor: Int32
    /// Whether it was made for this.
    private let isNew: Bool

    /// Opens a directory, and makes it where there is none.
    ///
    /// - Parameter path: Its path; the directory around it has to be there.
    /// - Throws: Where there is none and none can be made.
    init(_ path: String) throws(ToolError) {
        self.path = path
        isNew = unsafe mkdir(path, 0o777) == 0
        guard isNew || errno == EEXIST else { throw .system(.cannotCreate, path, "cannot be made", errno) }
        descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(.cannotCreate, path, "cannot be opened as a directory", errno) }
    }

    deinit {
        close(descriptor)
    }

    /// Takes it away again if it was made for this and is empty.
    func removeIfNew() {
        if isNew { _ = unsafe rmdir(path) }
    }

    /// The path of a file in it.
    func path(of name: String) -> String {
        path.hasSuffix("/") ? path + name : "\(path)/\(name)"
    }

    /// The bytes that are free on its disk for those who are not root; nil where the system does not say.
    var freeBytes: Int64? {
        var status = statvfs()
        guard unsafe fstatvfs(descriptor, &status) == 0 else { return nil }
        return Int64(
            clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue
        )
    }
}
