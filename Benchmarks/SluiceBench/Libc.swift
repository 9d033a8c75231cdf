#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What the limits are made of: plain system calls, with as little around them as there can be.
enum Libc {
    struct Failure: Error, CustomStringConvertible {
        let call: String
        let code: Int32
        var description: String { unsafe "\(call): \(String(cString: strerror(code)))" }
    }

    /// The call's result, or its error thrown.
    @discardableResult
    static func check<Result: SignedInteger>(_ call: String, _ result: Result) throws -> Result {
        guard result >= 0 else { throw Failure(call: call, code: errno) }
        return result
    }

    /// A port of loopback that was free a moment ago, for programs that cannot pick one and tell.
    static func freePort() throws -> UInt16 {
        let descriptor = try check("socket", socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        try unsafe withUnsafeMutablePointer(to: &address) { address in
            try unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                try check("bind", unsafe bind(descriptor, address, length))
                try check("getsockname", unsafe getsockname(descriptor, address, &length))
            }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    static func openForReading(_ path: String) throws -> Int32 {
        try check("open \(path)", unsafe open(path, O_RDONLY | O_CLOEXEC))
    }

    static func create(_ path: String) throws -> Int32 {
        try check("create \(path)", unsafe open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600))
    }

    /// Writes all of the bytes, or throws.
    static func writeAll(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws {
        var rest = unsafe bytes[...]
        while unsafe !rest.isEmpty {
            let count = try check(
                "write",
                unsafe write(descriptor, rest.base.baseAddress?.advanced(by: rest.startIndex), rest.count)
            )
            unsafe rest = rest.dropFirst(count)
        }
    }

    /// The whole of a text file of the system's.
    static func contents(_ path: String) throws -> String {
        let descriptor = try openForReading(path)
        defer { close(descriptor) }
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = try check("read \(path)", unsafe read(descriptor, &chunk, chunk.count))
            if count == 0 { return String(decoding: text, as: UTF8.self) }
            text += chunk[..<count]
        }
    }

    static func seconds(_ clock: clockid_t = CLOCK_MONOTONIC) -> Double {
        var now = timespec()
        unsafe clock_gettime(clock, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) * 1e-9
    }

    /// Memory aligned to a page, freed with the object.
    @safe
    final class Buffer {
        let bytes: UnsafeMutableRawBufferPointer

        init(_ count: Int) {
            unsafe bytes = .allocate(byteCount: count, alignment: 4096)
            // Touched, so that no page fault falls into what is measured.
            unsafe bytes.initializeMemory(as: UInt8.self, repeating: 1)
        }

        deinit { unsafe bytes.deallocate() }
    }
}
