#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What the user takes away from the permissions of new files (umask).
enum CreationMask {
    /// The permissions of a new file.
    static var fileMode: mode_t { 0o666 & ~mask }

    // It can only be read by setting it, for the whole process: once, to what the tool's own files have at most.
    private static let mask: mode_t = {
        let mask = umask(0o077)
        umask(mask)
        return mask
    }()
}
