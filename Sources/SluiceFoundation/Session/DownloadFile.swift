internal import Foundation
internal import Sluice
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The file of a download: written beside its place, and moved there when it is whole.
///
/// Until then, and on every failure, whatever is in the place stays as it is.
final class DownloadFile: Sendable {
    /// Its place.
    let url: URL
    private let target: String
    private let temporary: String
    /// -1 once it is closed.
    private let descriptor: Mutex<Int32>

    /// Makes the temporary file, in the directory that the download is for, so that the move is one `rename`.
    ///
    /// - Parameter url: A `file:` URL. Where a symbolic link is there, its target is replaced.
    /// - Throws: ``SessionError/Code/fileFailed``.
    init(_ url: URL) throws(SessionError) {
        guard url.isFileURL else {
            throw SessionError(.fileFailed, "the download's place \(url.shown) is not a file; give a file: URL")
        }
        self.url = url
        target = url.resolvingSymlinksInPath().path
        var old = stat()
        let isThere = unsafe stat(target, &old) == 0
        if isThere, old.st_mode & S_IFMT == S_IFDIR {
            throw SessionError(.fileFailed, "\(printable(target)): a directory is there; give the file's own name")
        }
        let directory = (target as NSString).deletingLastPathComponent
        let unique = String(UInt64.random(in: .min ... .max), radix: 36)
        // Short, so that it fits where the target's name does.
        temporary = "\(directory)/.sluice-\(unique).part"
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw Self.failure("cannot be made", temporary, errno) }
        self.descriptor = Mutex(descriptor)
        // What replaces a file is no more open to others than that was.
        if isThere { _ = fchmod(descriptor, old.st_mode & 0o777) }
    }

    deinit {
        discard()
    }

    /// Writes the next bytes.
    func write(_ data: Data) throws(SessionError) {
        let error = descriptor.withLock { descriptor -> Int32 in
            unsafe data.withUnsafeBytes { bytes in
                var rest = unsafe bytes[...]
                while unsafe !rest.isEmpty {
                    let count = unsafe Self.write(descriptor, UnsafeRawBufferPointer(rebasing: rest))
                    if count < 0, errno == EINTR { continue }
                    if count < 0 { return errno }
                    unsafe rest = rest.dropFirst(count)
                }
                return 0
            }
        }
        if error != 0 { throw Self.failure("cannot be written", temporary, error) }
    }

    /// Moves the file to its place, in one step.
    func commit() throws(SessionError) {
        let error = descriptor.withLock { descriptor -> Int32 in
            guard descriptor >= 0 else { return EBADF }
            // Network file systems say only now that there was no room.
            let isClosed = Self.close(descriptor) == 0
            descriptor = -1
            if isClosed, unsafe rename(temporary, target) == 0 { return 0 }
            let error = errno
            unsafe unlink(temporary)
            return error
        }
        if error != 0 { throw Self.failure("cannot be moved to its place", target, error) }
    }

    /// Removes what was written; does nothing after ``commit()``.
    func discard() {
        descriptor.withLock { descriptor in
            guard descriptor >= 0 else { return }
            _ = Self.close(descriptor)
            descriptor = -1
            unsafe unlink(temporary)
        }
    }

    private static func failure(_ what: String, _ path: String, _ error: Int32) -> SessionError {
        SessionError(.fileFailed, "the file \(printable(path)) \(what): \(Errno(error)), errno \(error)")
    }

    // The class's own methods hide the system's.

    private static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
        unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
        unsafe Musl.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Darwin)
        unsafe Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }

    private static func close(_ descriptor: Int32) -> Int32 {
        #if canImport(Glibc)
        Glibc.close(descriptor)
        #elseif canImport(Musl)
        Musl.close(descriptor)
        #elseif canImport(Darwin)
        Darwin.close(descriptor)
        #endif
    }
}
