#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#else
#error("Sluice does not know this platform's C library.")
#endif

/// The error number of a failed system call.
package struct Errno: Error, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: Int32

    package init(_ rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The number the calling thread's last failed call left behind.
    static var current: Errno { Errno(errno) }

    package static let interrupted = Errno(EINTR)
    package static let wouldBlock = Errno(EAGAIN)
    package static let brokenPipe = Errno(EPIPE)
    package static let connectionReset = Errno(ECONNRESET)
    package static let inputOutput = Errno(EIO)
    package static let noSpace = Errno(ENOSPC)
    package static let quotaExceeded = Errno(EDQUOT)
    package static let fileTooLarge = Errno(EFBIG)
    package static let notFound = Errno(ENOENT)
    package static let exists = Errno(EEXIST)
    package static let tooManyLinks = Errno(ELOOP)
    package static let invalid = Errno(EINVAL)
    package static let isDirectory = Errno(EISDIR)
    package static let canceled = Errno(ECANCELED)
    package static let unsupported = Errno(EOPNOTSUPP)

    /// Whether the call may be refused for these two descriptors although another way of copying works.
    ///
    /// The kernel says so in many ways: EINVAL (file type), EXDEV (two file systems), EBADF (O_APPEND),
    /// ENOSYS (an old kernel), EPERM (seccomp, immutable), EOPNOTSUPP, ETXTBSY.
    var meansUnsupported: Bool {
        switch rawValue {
        case EINVAL, EXDEV, EBADF, ENOSYS, EPERM, EOPNOTSUPP, ETXTBSY, ESPIPE: true
        default: false
        }
    }

    /// Whether a way of renaming is one that the kernel or the file system does not know.
    var meansUnsupportedFlag: Bool { [EINVAL, ENOSYS, ENOTSUP].contains(rawValue) }

    package var description: String {
        // strerror_r's two signatures (GNU and XSI) differ; strerror is enough here, because glibc, musl and
        // Darwin return constant strings for every known number.
        guard let text = unsafe strerror(rawValue) else { return "error \(rawValue)" }
        return unsafe String(cString: text)
    }
}
