#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// This machine's idea of the date.
enum WallClock {
    /// The seconds since 1970.
    static var seconds: Int64 { Int64(time(nil)) }
}
