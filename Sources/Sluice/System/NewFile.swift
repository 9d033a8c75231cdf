/// A file that is written under a name nobody knows, beside the one that it gets when all is there.
///
/// Released before that, it is removed.
final class NewFile {
    private let path: String
    private let temporaryPath: String
    private let descriptor: Int32
    private var isNamed = false

    /// Makes an empty file in the directory of `path`, readable and writable for its owner only.
    ///
    /// - Parameters:
    ///   - path: The name that it gets.
    ///   - replacing: Whether it may replace what has that name already.
    /// - Throws: ``MultipartError/Code/fileExists`` and ``MultipartError/Code/openFailed``.
    init(path: String, replacing: Bool) throws(MultipartError) {
        guard !path.utf8.contains(0) else {
            throw MultipartError(.openFailed, "a path with a NUL in it names no file", path: path)
        }
        if !replacing, SystemCalls.exists(path) { throw Self.exists(path) }
        self.path = path
        let directory = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[...$0] } ?? ""
        // Nobody can guess it, and so nobody can have made it.
        temporaryPath = "\(directory).sluice-\(UInt64.random(in: 0...UInt64.max)).part"
        do {
            descriptor = try SystemCalls.createFile(temporaryPath)
        } catch {
            throw MultipartError(.openFailed, "no file can be made in its directory", path: path, error)
        }
    }

    deinit {
        SystemCalls.close(descriptor)
        if !isNamed { SystemCalls.remove(temporaryPath) }
    }

    /// Writes all of the bytes at the file's end.
    func append(_ bytes: HeldBytes) throws(MultipartError) {
        let failure = unsafe bytes.withBytes { bytes -> Errno? in
            var written = 0
            while written < bytes.count {
                do throws(Errno) {
                    written += try unsafe SystemCalls.write(
                        descriptor,
                        UnsafeRawBufferPointer(rebasing: bytes[written...])
                    )
                } catch {
                    return error
                }
            }
            return nil
        }
        if let failure { throw MultipartError(.writeFailed, "writing failed", path: path, failure) }
    }

    /// Gives the file its name.
    func commit(replacing: Bool) throws(MultipartError) {
        do throws(Errno) {
            try SystemCalls.rename(temporaryPath, to: path, replacing: replacing)
            isNamed = true
        } catch {
            throw error == .exists && !replacing
                ? Self.exists(path) : MultipartError(.writeFailed, "the file cannot get its name", path: path, error)
        }
    }

    private static func exists(_ path: String) -> MultipartError {
        MultipartError(.fileExists, "there is a file of that name already, and it is not to be replaced", path: path)
    }
}
