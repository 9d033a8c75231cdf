import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A file that is being written, and takes its name once it is whole.
///
/// What is there under that name stays as it is until then, and stays for good where the tool fails or is ended by a
/// signal. A pipe or device cannot be replaced, and is written to directly.
struct OutputFile: Sendable {
    /// Where to write.
    let descriptor: Int32
    private let path: String
    private let replacement: Replacement?

    /// A temporary file that is to take another one's place.
    private struct Replacement {
        let temporaryPath: String
        let target: String
        let mode: mode_t
        let owner: (user: uid_t, group: gid_t)?
        let cleanup: Cleanup.Token
    }

    /// Writes a file whole, or not at all.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - write: Writes to the file. Whatever it takes to fail early is done before.
    /// - Throws: Where the file cannot be created or replaced, and what `write` throws.
    static func replacing(
        _ path: String,
        write: (OutputFile) async throws(ToolError) -> Void
    ) async throws(ToolError) {
        let file = try OutputFile(replacing: path)
        do {
            try await write(file)
        } catch {
            file.discard()
            throw error
        }
        try file.commit()
    }

    /// Begins to write a file.
    ///
    /// - Parameter path: The file's path. Where it is a symbolic link, the file that it leads to is replaced.
    /// - Throws: Where the file cannot be created or may not be replaced.
    private init(replacing path: String) throws(ToolError) {
        self.path = path
        var status = stat()
        let exists = unsafe stat(path, &status) == 0
        if exists, status.st_mode & S_IFMT != S_IFREG {
            descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
            replacement = nil
            guard descriptor >= 0 else { throw .system(.cannotCreate, path, "cannot be opened for writing", errno) }
        } else {
            let target = try Self.target(of: path, exists: exists)
            let (descriptor, temporaryPath) = Self.makeTemporary(beside: target)
            guard descriptor >= 0 else {
                throw .system(.cannotCreate, path, "no file can be created in its directory", errno)
            }
            self.descriptor = descriptor
            replacement = Replacement(
                temporaryPath: temporaryPath,
                target: target,
                mode: exists ? status.st_mode & 0o777 : CreationMask.fileMode,
                owner: exists ? (status.st_uid, status.st_gid) : nil,
                cleanup: Cleanup.add { unsafe unlink(temporaryPath) }
            )
        }
    }

    /// Writes bytes to it.
    ///
    /// - Parameter bytes: The bytes.
    /// - Throws: Where they cannot be written.
    func write(_ bytes: [UInt8]) throws(ToolError) {
        do {
            try Descriptor.write(bytes, to: descriptor)
        } catch {
            throw .system(.inputOutput, path, "cannot be written", error.rawValue)
        }
    }

    /// Gives the file its name.
    ///
    /// - Throws: Where what was written could not be kept; what was there before is then still there.
    private func commit() throws(ToolError) {
        Signals.endIfReceived()
        if let replacement {
            // Only root can give files away; for others it stays theirs.
            if let owner = replacement.owner { _ = fchown(descriptor, owner.user, owner.group) }
            _ = fchmod(descriptor, replacement.mode)
        }
        // Some file systems say only now that there was no room.
        if close(descriptor) != 0, errno != EINTR {
            let number = errno
            if let replacement { Cleanup.run(replacement.cleanup) }
            throw .system(.inputOutput, path, "cannot be written", number)
        }
        guard let replacement else { return }
        if unsafe rename(replacement.temporaryPath, replacement.target) != 0 {
            let number = errno
            Cleanup.run(replacement.cleanup)
            throw .system(.cannotCreate, path, "cannot be replaced", number)
        }
        Cleanup.forget(replacement.cleanup)
    }

    /// Takes away what was written.
    private func discard() {
        close(descriptor)
        if let replacement { Cleanup.run(replacement.cleanup) }
    }

    // MARK: Where

    /// The file that is to be replaced: what a symbolic link leads to.
    private static func target(of path: String, exists: Bool) throws(ToolError) -> String {
        guard exists else {
            var status = stat()
            guard unsafe lstat(path, &status) != 0 else {
                throw ToolError(.cannotCreate, "\(printable(path)): is a symbolic link to what does not exist")
            }
            return path
        }
        // To replace a file takes no right to write to it, but whoever took that right away meant it.
        guard unsafe access(path, W_OK) == 0, let resolved = unsafe realpath(path, nil) else {
            throw .system(.cannotCreate, path, "cannot be written", errno)
        }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    /// An empty file that only its owner can read, in the same directory and so on the same file system.
    private static func makeTemporary(beside target: String) -> (descriptor: Int32, path: String) {
        let slash = target.utf8.lastIndex(of: UInt8(ascii: "/"))
        let directory = slash.map { target[...$0] } ?? ""
        var template = Array((directory + ".sluice-XXXXXX").utf8CString)
        let descriptor = unsafe mkstemp(&template)
        return (descriptor, String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self))
    }
}
