internal import CSluiceShims

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What makes files and gives them their names.
///
/// A `directory` is the descriptor of one, in which relative paths begin.
extension SystemCalls {
    /// Where the paths begin that the user gives.
    package static var workingDirectory: Int32 { Int32(AT_FDCWD) }

    /// Makes a file that only this user may read, and that was not there before, be it as a link to another one.
    package static func createFile(_ path: String, in directory: Int32 = workingDirectory) throws(Errno) -> Int32 {
        try retrying { unsafe openat(directory, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600) }
    }

    package static func makeDirectory(_ path: String, in directory: Int32, mode: UInt32) throws(Errno) {
        try retrying { unsafe mkdirat(directory, path, mode_t(mode)) }
    }

    /// Opens a directory to find things in it.
    package static func openDirectory(
        _ path: String,
        in directory: Int32,
        followingLinks: Bool
    ) throws(Errno) -> Int32 {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (followingLinks ? 0 : O_NOFOLLOW)
        return try retrying { unsafe openat(directory, path, flags) }
    }

    /// Closes a file that was written to, and throws where the system says only now that it could not be kept.
    package static func closeWritten(_ descriptor: Int32) throws(Errno) {
        #if DEBUG
        if case .failure(let error)? = SystemFaults.next(#function), error != .interrupted {
            close(descriptor)
            throw error
        }
        #endif
        // Not retried: after EINTR the descriptor is gone on Linux, and what is written is on its way.
        guard close(descriptor) != 0, Errno.current != .interrupted else { return }
        throw Errno.current
    }

    package static func setPermissions(of descriptor: Int32, to permissions: UInt32) throws(Errno) {
        try retrying { fchmod(descriptor, mode_t(permissions)) }
    }

    package static func setOwner(of descriptor: Int32, user: UInt32, group: UInt32) throws(Errno) {
        try retrying { fchown(descriptor, user, group) }
    }

    /// Lets the same people use a new file as used the one that it replaces, or fewer.
    ///
    /// - Parameters:
    ///   - descriptor: The new file, which is the process's own.
    ///   - permissions: The old file's nine bits.
    ///   - owner: Whose the old file was. Only root can give files away, and others only to groups that they are in.
    /// - Throws: Where it cannot be given permissions.
    package static func setAccess(
        of descriptor: Int32,
        permissions: UInt32,
        owner: (user: UInt32, group: UInt32)?
    ) throws(Errno) {
        var permissions = permissions
        if let owner, (try? setOwner(of: descriptor, user: owner.user, group: owner.group)) == nil,
            // The user as it is.
            (try? setOwner(of: descriptor, user: .max, group: owner.group)) == nil
        {
            // It is another group's, which is to have no more rights in it than anybody.
            permissions &= ~0o070 | (permissions & 0o007) << 3
        }
        try setPermissions(of: descriptor, to: permissions)
    }

    // MARK: Names

    /// What has this name; nil where nothing has.
    static func entry(at path: String, followingLinks: Bool) throws(Errno) -> DirectoryEntry? {
        var status = stat()
        do {
            try retrying { unsafe fstatat(AT_FDCWD, path, &status, followingLinks ? 0 : AT_SYMLINK_NOFOLLOW) }
        } catch {
            if error == .notFound { return nil }
            throw error
        }
        return DirectoryEntry(status)
    }

    /// Whether there is something of this name, be it a link to nothing.
    package static func exists(_ path: String) -> Bool {
        (try? entry(at: path, followingLinks: false)) != nil
    }

    /// Throws where the process, as who it acts, may not write to the path.
    package static func checkWritable(_ path: String) throws(Errno) {
        try retrying { unsafe faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) }
    }

    /// The path without symbolic links in it.
    package static func resolve(_ path: String) throws(Errno) -> String {
        var resolved: UnsafeMutablePointer<CChar>?
        try retrying { () -> Int32 in
            unsafe resolved = unsafe realpath(path, nil)
            return unsafe resolved == nil ? -1 : 0
        }
        guard let text = unsafe resolved else { throw .notFound }
        defer { unsafe free(text) }
        return unsafe String(cString: text)
    }

    /// Gives a file another name on the same file system, where `replacing` says whether what has that name already is
    /// replaced or the error `EEXIST`.
    package static func rename(_ path: String, to newPath: String, replacing: Bool) throws(Errno) {
        if replacing {
            try rename(path, in: workingDirectory, to: newPath, in: workingDirectory)
        } else {
            try renameNew(path, in: workingDirectory, to: newPath, in: workingDirectory)
        }
    }

    /// Gives a file another name on the same file system, and takes that from the file that had it.
    package static func rename(
        _ path: String,
        in directory: Int32,
        to newPath: String,
        in newDirectory: Int32
    ) throws(Errno) {
        try retrying { unsafe renameat(directory, path, newDirectory, newPath) }
    }

    /// The same where nothing has the name; else the error is `EEXIST`.
    ///
    /// There is no moment without either name.
    package static func renameNew(
        _ path: String,
        in directory: Int32,
        to newPath: String,
        in newDirectory: Int32
    ) throws(Errno) {
        do {
            try retrying { unsafe sluice_rename_new(directory, path, newDirectory, newPath) }
        } catch {
            guard error.meansUnsupportedFlag else { throw error }
            // What NFS, for one, has instead: a second name, which is never put in another one's place.
            try link(path, in: directory, to: newPath, in: newDirectory)
            // The file is in its place, whatever becomes of the first name.
            unsafe unlinkat(directory, path, 0)
        }
    }

    /// Exchanges the names of two files; where the system cannot, the error is one that ``Errno/meansUnsupportedFlag``.
    package static func exchangeNames(
        _ path: String,
        in directory: Int32,
        _ otherPath: String,
        in otherDirectory: Int32
    ) throws(Errno) {
        try retrying { unsafe sluice_rename_exchange(directory, path, otherDirectory, otherPath) }
    }

    /// Gives a file, or a symbolic link itself, a second name that nothing has.
    package static func link(
        _ path: String,
        in directory: Int32,
        to newPath: String,
        in newDirectory: Int32
    ) throws(Errno) {
        try retrying { unsafe linkat(directory, path, newDirectory, newPath, 0) }
    }

    package static func remove(_ path: String) {
        unsafe unlink(path)
    }
}

/// What has a name, and who may do what with it.
struct DirectoryEntry: Sendable {
    enum Kind: Sendable {
        case file, directory, link, other
    }

    let kind: Kind
    /// With the bits of the file's kind.
    let mode: UInt32
    let user: UInt32
    let group: UInt32

    fileprivate init(_ status: stat) {
        switch status.st_mode & S_IFMT {
        case S_IFREG: kind = .file
        case S_IFDIR: kind = .directory
        case S_IFLNK: kind = .link
        default: kind = .other
        }
        (mode, user, group) = (UInt32(status.st_mode), status.st_uid, status.st_gid)
    }
}
