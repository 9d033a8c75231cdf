import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// An IP address and port to listen on.
struct ListenAddress: Sendable {
    private enum Kind: Sendable {
        case v4(in_addr)
        case v6(in6_addr)
    }

    private let text: String
    private let kind: Kind
    let port: UInt16

    /// This machine alone.
    static let loopback = "127.0.0.1"

    /// - Parameters:
    ///   - text: An IPv4 or IPv6 address in digits.
    ///   - port: The port; 0 for any.
    /// - Throws: A usage error where it is no address.
    init(_ text: String, port: UInt16) throws(ToolError) {
        var v4 = in_addr()
        var v6 = in6_addr()
        if unsafe inet_pton(AF_INET, text, &v4) == 1 {
            kind = .v4(v4)
        } else if unsafe inet_pton(AF_INET6, text, &v6) == 1 {
            kind = .v6(v6)
        } else {
            throw .usage("--bind is an IP address like 127.0.0.1 or ::, not '\(printable(text))'")
        }
        self.text = text
        self.port = port
    }

    /// The address in a URL, with the port that it was given.
    func url(port: UInt16) -> String {
        if case .v6 = kind { "http://[\(text)]:\(port)/" } else { "http://\(text):\(port)/" }
    }

    /// The address as sockets take it, lent for the call.
    func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>) -> Result) -> Result {
        switch kind {
        case .v4(let address):
            var socketAddress = sockaddr_in()
            socketAddress.sin_family = sa_family_t(AF_INET)
            socketAddress.sin_port = port.bigEndian
            socketAddress.sin_addr = address
            return unsafe withUnsafeBytes(of: &socketAddress) { bytes in
                unsafe bytes.withMemoryRebound(to: sockaddr.self) { unsafe body($0.baseAddress.unsafelyUnwrapped) }
            }
        case .v6(let address):
            var socketAddress = sockaddr_in6()
            socketAddress.sin6_family = sa_family_t(AF_INET6)
            socketAddress.sin6_port = port.bigEndian
            socketAddress.sin6_addr = address
            return unsafe withUnsafeBytes(of: &socketAddress) { bytes in
                unsafe bytes.withMemoryRebound(to: sockaddr.self) { unsafe body($0.baseAddress.unsafelyUnwrapped) }
            }
        }
    }
}
