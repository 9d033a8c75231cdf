import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A socket that listens on a port of its own and never accepts.
final class ListeningSocket {
    let port: UInt16
    private let descriptor: Int32

    init(backlog: Int32 = 0) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(descriptor, address, length) + listen(descriptor, backlog)
                    + getsockname(descriptor, address, &length)
            }
        }
        try #require(status == 0)
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }

    /// Begins to connect, and waits for nothing.
    func connect() throws -> Connection {
        let connection = Connection()
        var address = Self.address(port)
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = unsafe Glibc.connect(connection.descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return connection
    }

    final class Connection {
        let descriptor: Int32

        init() {
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        }

        deinit { close(descriptor) }
    }

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return address
    }
}
