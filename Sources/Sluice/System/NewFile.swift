internal import Synchronization

/// A file that is written under a name nobody knows, beside the one that it gets when all is there.
///
/// What has that name stays as it is until ``commit()``, and for good where that is not reached: what was written is then
/// removed, by ``discard()`` or with the object. One thread at a time writes and commits; any other may discard meanwhile.
package final class NewFile: Sendable {
    /// What may have the name already.
    package enum Replacing: Sendable {
        /// Nothing.
        case nothing
        /// A file, which loses it; a symbolic link itself, and not what it leads to.
        case name
        /// A file that the caller may write to, be it behind a symbolic link. The new one gets its permissions and, where
        /// the system allows, its owner; where there is none, the permissions that new files have.
        case file
    }

    /// What is to be replaced.
    private struct Place {
        let path: String
        /// Nil for what the file is created with: its owner's alone.
        var mode: UInt32?
        var owner: (user: UInt32, group: UInt32)?
    }

    private struct State {
        var descriptor: Int32 = -1
        /// Whether it is there under the name nobody knows.
        var isThere = false
        var isDiscarded = false
    }

    private let path: String
    private let replacing: Replacing
    private let place: Place
    private let temporaryPath: String
    private let state = Mutex(State())

    /// Looks at the place; nothing is made yet.
    ///
    /// - Parameters:
    ///   - path: The name that the file is to get.
    ///   - replacing: What may have it already.
    /// - Throws: ``MultipartError/Code/fileExists``, and ``MultipartError/Code/openFailed`` where no file can have the name.
    package init(_ path: String, replacing: Replacing) throws(MultipartError) {
        self.path = path
        self.replacing = replacing
        let place = try Self.place(path, replacing)
        self.place = place
        let directory = place.path.utf8.lastIndex(of: UInt8(ascii: "/")).map { place.path[...$0] } ?? ""
        // Nobody can guess it, and so nobody can have made it. Short, so that it fits where the file's own name does.
        temporaryPath = "\(directory).sluice-\(String(UInt64.random(in: 0...UInt64.max), radix: 36)).part"
    }

    deinit {
        discard()
        let descriptor = state.withLock { $0.descriptor }
        if descriptor >= 0 { SystemCalls.close(descriptor) }
    }

    /// Makes the file, empty, readable and writable for its owner only.
    ///
    /// - Throws: ``MultipartError/Code/openFailed``; ``MultipartError/Code/cancelled`` where it was discarded before.
    package func create() throws(MultipartError) {
        do throws(Errno) {
            try state.withLock { state throws(Errno) in
                if state.isDiscarded { throw .canceled }
                state.descriptor = try SystemCalls.createFile(temporaryPath, in: SystemCalls.workingDirectory)
                state.isThere = true
            }
        } catch {
            if error == .canceled { throw discarded }
            throw MultipartError(.openFailed, "no file can be made in its directory", path: path, error)
        }
    }

    /// What to write to, from ``create()`` to ``commit()``; -1 before and after.
    package var descriptor: Int32 { state.withLock { $0.descriptor } }

    /// Writes all of the bytes at the file's end.
    ///
    /// - Parameter bytes: The bytes, lent for the call.
    /// - Throws: ``MultipartError/Code/writeFailed``.
    package func append(_ bytes: UnsafeRawBufferPointer) throws(MultipartError) {
        do {
            try unsafe SystemCalls.writeAll(bytes, to: descriptor)
        } catch {
            throw MultipartError(.writeFailed, "writing failed", path: path, error)
        }
    }

    /// Gives the file its name; what fails before that removes it.
    ///
    /// - Throws: ``MultipartError/Code/writeFailed``, ``MultipartError/Code/fileExists`` where something has got the name
    ///   meanwhile and may not be replaced; ``MultipartError/Code/cancelled`` where the file was discarded.
    package func commit() throws(MultipartError) {
        do {
            try close()
            try rename()
        } catch {
            discard()
            throw error
        }
    }

    private func close() throws(MultipartError) {
        let descriptor = state.withLock { state in
            defer { state.descriptor = -1 }
            return state.descriptor
        }
        // Where it cannot be, it stays its owner's alone.
        if let mode = place.mode {
            try? SystemCalls.setAccess(of: descriptor, permissions: mode, owner: place.owner)
        }
        do {
            // Before it gets its name: some file systems say only now that there was no room.
            try SystemCalls.closeWritten(descriptor)
        } catch {
            throw MultipartError(.writeFailed, "writing failed", path: path, error)
        }
    }

    private func rename() throws(MultipartError) {
        do throws(Errno) {
            try state.withLock { state throws(Errno) in
                guard state.isThere else { throw .canceled }
                try SystemCalls.rename(temporaryPath, to: place.path, replacing: replacing != .nothing)
                state.isThere = false
            }
        } catch {
            if error == .canceled { throw discarded }
            if error == .exists, replacing == .nothing { throw Self.exists(path) }
            throw MultipartError(.writeFailed, "the file cannot get its name", path: path, error)
        }
    }

    /// Removes what was written, unless the file has its name by now.
    ///
    /// A file that is yet to be made is not made any more.
    package func discard() {
        state.withLock { state in
            state.isDiscarded = true
            if state.isThere { SystemCalls.remove(temporaryPath) }
            state.isThere = false
        }
    }

    private var discarded: MultipartError { MultipartError(.cancelled, "the file was given up", path: path) }

    // MARK: The place

    private static func place(_ path: String, _ replacing: Replacing) throws(MultipartError) -> Place {
        guard !path.utf8.contains(0) else { throw refusal("a path with a NUL in it names no file", path) }
        guard !path.isEmpty else { throw refusal("the path is empty; name a file", nil) }
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let name = slash.map { path[path.utf8.index(after: $0)...] } ?? path[...]
        if ["", ".", ".."].contains(name) { throw isDirectory(path) }
        // What a link leads to counts only for a file that is to have its permissions.
        if replacing == .file, let entry = try entry(at: path, followingLinks: true) {
            return try place(of: entry, path)
        }
        let entry = try entry(at: path, followingLinks: false)
        switch replacing {
        case .nothing:
            guard entry == nil else { throw exists(path) }
            return Place(path: path)
        case .name:
            guard let kind = entry?.kind, ![.file, .link].contains(kind) else { return Place(path: path) }
            throw kind == .directory ? isDirectory(path) : notFile(path)
        case .file:
            guard entry == nil else { throw refusal("is a symbolic link to what does not exist", path) }
            return Place(path: path, mode: CreationMask.fileMode)
        }
    }

    private static func place(of entry: DirectoryEntry, _ path: String) throws(MultipartError) -> Place {
        guard entry.kind == .file else { throw entry.kind == .directory ? isDirectory(path) : notFile(path) }
        do {
            // To replace a file takes no right to write to it, but whoever took that right away meant it.
            try SystemCalls.checkWritable(path)
            return Place(
                path: try SystemCalls.resolve(path),
                mode: entry.mode & 0o777,
                owner: (entry.user, entry.group)
            )
        } catch {
            throw MultipartError(.openFailed, "cannot be written", path: path, error)
        }
    }

    private static func entry(at path: String, followingLinks: Bool) throws(MultipartError) -> DirectoryEntry? {
        do {
            return try SystemCalls.entry(at: path, followingLinks: followingLinks)
        } catch {
            throw MultipartError(.openFailed, "no file can be made there", path: path, error)
        }
    }

    private static func refusal(_ reason: String, _ path: String?) -> MultipartError {
        MultipartError(.openFailed, reason, path: path)
    }

    private static func notFile(_ path: String) -> MultipartError {
        refusal("is no regular file, and not replaced by one", path)
    }

    private static func isDirectory(_ path: String) -> MultipartError {
        MultipartError(.openFailed, "names a directory; name a file in it", path: path, Errno.isDirectory)
    }

    private static func exists(_ path: String) -> MultipartError {
        MultipartError(.fileExists, "there is a file of that name already, and it is not to be replaced", path: path)
    }
}
