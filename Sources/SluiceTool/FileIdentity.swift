import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Which regular file it is, whatever its name.
struct FileIdentity: Equatable {
    private let device: UInt64
    private let inode: UInt64

    /// The file behind a path; nil where there is none, or another thing than a regular file.
    init?(path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The file behind a descriptor; nil where it is another thing than a regular file.
    init?(descriptor: Int32) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init?(_ status: stat) {
        guard status.st_mode & S_IFMT == S_IFREG else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(status.st_ino)
    }
}

extension FormOptions.Described {
    /// Makes sure that the output is none of the files that are read, which it would destroy or never end.
    ///
    /// - Parameters:
    ///   - output: The file that is to be written; nil where it is no regular file.
    ///   - name: What to call it.
    /// - Throws: A usage error where it is one of the parts' files.
    func refuse(writingTo output: FileIdentity?, called name: String) throws(ToolError) {
        guard let output else { return }
        let input = paths.first { path in
            let file =
                path == FormSpec.standardInput
                ? FileIdentity(descriptor: Descriptor.standardInput) : FileIdentity(path: path)
            return file == output
        }
        guard let input else { return }
        throw .usage("\(printable(name)) is the very file that \(printable(input)) is read from")
    }
}
