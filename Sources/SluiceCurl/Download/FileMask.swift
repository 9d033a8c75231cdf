internal import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The process's `umask`.
enum FileMask {
    /// The mask as it is now.
    static var current: mode_t {
        #if os(Linux)
        // umask(2) can only be asked by setting it, which files that other threads make meanwhile would have to bear.
        if let mask = read() { return mask }
        #endif
        let mask = umask(0o077)
        umask(mask)
        return mask
    }

    #if os(Linux)
    private static func read() -> mode_t? {
        guard let descriptor = try? SystemCalls.openFile("/proc/self/status", O_RDONLY) else { return nil }
        defer { SystemCalls.close(descriptor) }
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            unsafe count = (try? SystemCalls.read(descriptor, at: 0, into: UnsafeMutableRawBufferPointer(buffer))) ?? 0
        }
        let line = bytes.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: "Umask:".utf8) }
        let digits = line?.filter { (0x30...0x37).contains($0) }
        return digits.flatMap { mode_t(String(decoding: $0, as: UTF8.self), radix: 8) }
    }
    #endif
}
