#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A receiver in a process of its own that throws away what it gets: as fast as a receiver on loopback can be.
///
/// A connection that begins with an HTTP request gets an HTTP answer for each request of a known length; any other is
/// read to its end and then closed, so that the sender knows that all of it arrived.
final class Sink {
    let port: UInt16

    init() throws {
        var toChild: [Int32] = [0, 0]
        var fromChild: [Int32] = [0, 0]
        try Libc.check("pipe", unsafe pipe(&toChild))
        try Libc.check("pipe", unsafe pipe(&fromChild))
        defer {
            close(toChild[0])
            close(fromChild[1])
            close(fromChild[0])
        }
        for descriptor in [toChild[1], fromChild[0]] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        // It ends when the other end of its standard input is closed, which is when this process ends, and not with this
        // object: rows keep the address of their sink, not always the sink.
        _ = try Child("/proc/self/exe", ["--sink"], input: toChild[0], output: fromChild[1])
        var line = [UInt8](repeating: 0, count: 16)
        let count = try Libc.check("read", unsafe read(fromChild[0], &line, line.count))
        guard let port = UInt16(String(decoding: line[..<count].prefix { $0 != 0x0A }, as: UTF8.self)) else {
            throw Libc.Failure(call: "the sink did not start", code: ECHILD)
        }
        self.port = port
    }

    var url: String { "http://127.0.0.1:\(port)/" }

    /// A new connection.
    func connect() throws -> Int32 {
        let descriptor = try Libc.check("socket", socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        var address = Self.loopback(port)
        try Libc.check(
            "connect",
            unsafe withUnsafePointer(to: &address) { address in
                unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        )
        return descriptor
    }

    /// Runs `send` with a new connection, and returns when the sink has read all of it.
    func receive(_ send: (Int32) throws -> Void) throws {
        let descriptor = try connect()
        defer { close(descriptor) }
        try send(descriptor)
        shutdown(descriptor, Int32(SHUT_WR))
        var byte: UInt8 = 0
        _ = unsafe read(descriptor, &byte, 1)
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
