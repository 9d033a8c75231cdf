/// A file, or anything else with a path or a descriptor, as a part's content.
///
/// ``MultipartForm/body()`` looks at it once and records its size, modification time and identity. A regular file is
/// then read with positioned reads from one descriptor that is opened when the reader comes to the part and closed
/// when it leaves it. Pipes, FIFOs, sockets, terminals and the made-up files of `/proc` have no length that could be
/// trusted: they are read until their end, and the body's length is unknown.
///
/// A directory, or a path that cannot be opened, is an error from ``MultipartForm/body()``.
public struct FileSource: Sendable {
    /// What may happen to a regular file between ``MultipartForm/body()`` and the last byte read.
    public enum ChangePolicy: Sendable {
        /// The file may grow: the body is cut at the size first seen, so that a log being written can be sent.
        /// One that shrank, or was replaced by another file, is an error.
        case snapshot
        /// Any change of size, modification time or identity is an error.
        case strict
    }

    /// Who closes a descriptor.
    public enum Ownership: Sendable {
        /// The caller, after the last reader is gone.
        case borrowed
        /// The source: when its last copy, body and reader are gone.
        case owned
    }

    private let origin: FileOrigin
    private let range: Range<Int64>?
    private let changePolicy: ChangePolicy

    /// A file by its path, opened only while it is read.
    ///
    /// - Parameters:
    ///   - path: The path, relative to the working directory at the time of reading unless absolute.
    ///   - range: The bytes of the file to send, from 0; all of it where nil.
    ///   - changePolicy: What may happen to the file meanwhile.
    public init(path: String, range: Range<Int64>? = nil, changePolicy: ChangePolicy = .snapshot) {
        origin = .path(path)
        self.range = range
        self.changePolicy = changePolicy
    }

    /// An open descriptor.
    ///
    /// A regular file is read with `pread` from the descriptor's offset as it is when the body is made, or from the
    /// range's start; the offset itself does not move. Anything else is read once, to its end.
    ///
    /// - Parameters:
    ///   - descriptor: A descriptor open for reading.
    ///   - ownership: Who closes it.
    ///   - range: The bytes of the file to send, from 0; from the descriptor's offset to the end where nil.
    ///   - changePolicy: What may happen to the file meanwhile.
    public init(
        descriptor: Int32,
        ownership: Ownership,
        range: Range<Int64>? = nil,
        changePolicy: ChangePolicy = .snapshot
    ) {
        self.init(SharedDescriptor(descriptor, ownership), range: range, changePolicy: changePolicy)
    }

    init(_ shared: SharedDescriptor, range: Range<Int64>?, changePolicy: ChangePolicy = .snapshot) {
        origin = .descriptor(shared)
        self.range = range
        self.changePolicy = changePolicy
    }

    /// The process's standard input, whatever it is: a file redirected into it has a known length, a pipe has not.
    public static var standardInput: FileSource {
        FileSource(descriptor: 0, ownership: .borrowed)
    }

    /// The path's last component, where it has a path: a file part's filename unless the caller gives one.
    var defaultFilename: String? {
        guard case .path(let path) = origin else { return nil }
        return path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }

    /// Looks at the file and says how it is to be read.
    func resolve() throws(MultipartError) -> Content {
        let path = origin.path
        if let path, path.utf8.contains(0) {
            // To the system the path would end there, and be another file's.
            throw MultipartError(.openFailed, "has a NUL in its path, which no file's has", path: path)
        }
        let status: FileStatus
        var start: Int64 = 0
        var isSynthetic = false
        do throws(Errno) {
            status = try origin.status()
            if let path, status.kind != .directory, status.kind != .socket { try SystemCalls.checkReadable(path) }
            // Files of /proc and its kin claim a size of 0 or a page, whatever they hold, and own no blocks.
            if status.kind == .regular, !status.hasBlocks {
                isSynthetic = try origin.withDescriptor { (descriptor) throws(Errno) in
                    try SystemCalls.isSynthetic(descriptor)
                }
            }
            if case .descriptor(let shared) = origin, status.kind == .regular, !isSynthetic, range == nil {
                start = try SystemCalls.offset(of: shared.rawValue)
            }
        } catch {
            throw MultipartError(
                .openFailed,
                "cannot be opened; check the path and its permissions",
                path: origin.path,
                error
            )
        }

        switch status.kind {
        case .directory:
            throw MultipartError(.notReadable, "is a directory; add its files one by one", path: path)
        case .socket where path != nil:
            throw MultipartError(.notReadable, "is a socket; connect to it and give the descriptor", path: path)
        case .regular where !isSynthetic:
            let bounds = try range(of: status.size, from: start)
            return .source(
                FileSnapshot(
                    origin: origin,
                    path: path,
                    bounds: bounds,
                    status: status,
                    changePolicy: changePolicy
                )
            )
        default:
            guard range == nil else {
                throw MultipartError(
                    .invalidRange,
                    "has no fixed length, so no byte range of it can be sent",
                    path: path
                )
            }
            return .stream(StreamSource(origin: origin, path: path, isRestartable: isSynthetic && path != nil))
        }
    }

    private func range(of size: Int64, from start: Int64) throws(MultipartError) -> Range<Int64> {
        guard let range else { return min(start, size)..<size }
        guard range.lowerBound >= 0, range.upperBound <= size else {
            throw MultipartError(
                .invalidRange,
                "the bytes \(range.lowerBound)..<\(range.upperBound) do not lie within the file's \(size)",
                path: origin.path
            )
        }
        return range
    }
}
