#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What the user takes away from the permissions of new files (umask).
package enum CreationMask {
    /// The permissions of a new file.
    package static var fileMode: UInt32 { 0o666 & ~current }

    private static var current: UInt32 {
        #if os(Linux)
        // umask(2) can only be asked by setting it, which files that other threads make meanwhile would have to bear.
        if let mask = read() { return mask }
        #endif
        let mask = umask(0o077)
        umask(mask)
        return UInt32(mask)
    }

    #if os(Linux)
    private static func read() -> UInt32? {
        let lines = SystemCalls.text(ofSmallFile: "/proc/self/status")?.split(separator: "\n")
        let digits = lines?.first { $0.hasPrefix("Umask:") }?.filter("01234567".contains)
        return digits.flatMap { UInt32($0, radix: 8) }
    }
    #endif
}
