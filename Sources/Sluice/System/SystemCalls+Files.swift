internal import CSluiceShims

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What it takes to write a file over a long time and to put it in another one's place.
extension SystemCalls {
    /// Opens a file as the flags of open(2) say; programs that are started meanwhile do not inherit it.
    package static func openFile(_ path: String, _ flags: Int32, permissions: UInt32 = 0) throws(Errno) -> Int32 {
        try retrying { unsafe open(path, flags | O_CLOEXEC, mode_t(permissions)) }
    }

    package static func details(of descriptor: Int32) throws(Errno) -> FileDetails {
        var result = sluice_status()
        try retrying { unsafe sluice_status(descriptor, nil, &result) }
        return FileDetails(result)
    }

    package static func details(ofPath path: String) throws(Errno) -> FileDetails {
        var result = sluice_status()
        try retrying { unsafe sluice_status(-1, path, &result) }
        return FileDetails(result)
    }

    /// Keeps off the file whoever else asks for the same, for as long as the descriptor is open.
    ///
    /// - Returns: False where somebody else was first.
    package static func lock(_ descriptor: Int32) throws(Errno) -> Bool {
        do throws(Errno) {
            try retrying { flock(descriptor, LOCK_EX | LOCK_NB) }
            return true
        } catch {
            guard error == .wouldBlock else { throw error }
            return false
        }
    }

    package static func write(
        _ descriptor: Int32,
        at offset: Int64,
        _ buffer: UnsafeRawBufferPointer
    ) throws(Errno) -> Int {
        try retrying(count: buffer.count) { unsafe pwrite(descriptor, buffer.baseAddress, $0, off_t(offset)) }
    }

    /// Cuts the file, or makes it longer by zeros.
    package static func setSize(of descriptor: Int32, to size: Int64) throws(Errno) {
        try retrying { ftruncate(descriptor, off_t(size)) }
    }

    /// Returns once what was written is on the disk: of a file its bytes, of a directory its names.
    package static func synchronize(_ descriptor: Int32) throws(Errno) {
        try retrying { fsync(descriptor) }
    }

    private static func duplicate(_ descriptor: Int32) throws(Errno) -> Int32 {
        try retrying { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }
    }

    /// Throws what the file system says of what was written only when a descriptor is closed: some have no room by then.
    package static func checkWritten(_ descriptor: Int32) throws(Errno) {
        // Of a copy, since the file stays open. Where there is none to be had, nothing is known against the file.
        guard let copy = try? duplicate(descriptor) else { return }
        #if DEBUG
        if case .failure(let error)? = SystemFaults.next(#function), error != .interrupted {
            close(copy)
            throw error
        }
        #endif
        if close(copy) != 0, Errno.current != .interrupted { throw Errno.current }
    }

    /// The same as ``remove(_:)`` for a file whose staying would do harm.
    package static func delete(_ path: String) throws(Errno) {
        try retrying { unsafe unlink(path) }
    }
}

/// What `fstat` says of a file, with what writing asks.
package struct FileDetails: Sendable {
    package let status: FileStatus
    /// Who may read, write and execute it: the nine bits of the mode.
    package let permissions: UInt32
    package let user: UInt32
    package let group: UInt32
    /// How many names it has.
    package let linkCount: UInt64

    init(_ status: sluice_status) {
        self.status = FileStatus(status)
        permissions = status.mode & 0o777
        user = status.user
        group = status.group
        linkCount = status.links
    }
}
