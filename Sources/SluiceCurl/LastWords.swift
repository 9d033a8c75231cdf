internal import CCurl

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What servers said just before they closed connections that were still being sent on.
///
/// A server that refuses a body in the middle answers and closes, and the close can fail a send before libcurl has
/// read the answer, which then lies unread in the socket. It is read here before the socket is closed, so that the
/// answer and not "broken pipe" is what comes of it. This works for plain HTTP/1; through TLS nobody but libcurl can
/// read.
///
/// Used on the loop's thread only, and kept until libcurl has closed its last connection.
final class LastWords {
    /// By the connection's own port, which is all that a transfer knows of it afterwards.
    private var heard: [Int64: [UInt8]] = [:]

    /// As much of an answer as is kept.
    private static let limit = 64 * 1024

    /// What was left unread on a connection from this port.
    func take(localPort: Int64) -> [UInt8]? {
        heard.removeValue(forKey: localPort)
    }

    /// Drops what no transfer has asked for.
    func forget() {
        if !heard.isEmpty { heard = [:] }
    }

    /// Has the handle's connections closed here.
    func listen(to handle: EasyHandle) throws(TransferError) {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe try handle.check(
            sluice_set_close_socket_function(handle.pointer, closeSocket),
            CURLOPT_CLOSESOCKETFUNCTION
        )
        unsafe try handle.set(CURLOPT_CLOSESOCKETDATA, pointer: context)
    }

    fileprivate func hear(_ descriptor: Int32) {
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.limit) { buffer, count in
            unsafe count = max(recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)), 0)
        }
        if !bytes.isEmpty, let port = Self.localPort(of: descriptor) { heard[port] = bytes }
    }

    private static func localPort(of descriptor: Int32) -> Int64? {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
        }
        guard status == 0, [AF_INET, AF_INET6].contains(Int32(address.ss_family)) else { return nil }
        // The port is in the same place for IPv4 and IPv6.
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                Int64(UInt16(bigEndian: unsafe $0.pointee.sin_port))
            }
        }
    }
}

private let closeSocket: curl_closesocket_callback = { context, descriptor in
    if let context = unsafe context {
        unsafe Unmanaged<LastWords>.fromOpaque(context).takeUnretainedValue().hear(descriptor)
    }
    return close(descriptor)
}

extension ResponseCollector {
    /// Takes an answer that was found in a closed socket, if it is one and its head is complete.
    ///
    /// The body is what there is of it, up to its Content-Length; one in chunked coding is left out.
    func takeLastWords(_ bytes: [UInt8]) {
        var rest = bytes[...]
        guard !isHeadComplete, rest.starts(with: "HTTP/1.".utf8) else { return }
        while !isHeadComplete {
            guard let end = rest.firstIndex(of: 0x0A) else { return }
            let goesOn = unsafe rest[...end].withUnsafeBytes { unsafe takeHeader($0, requestBytes: 0) }
            guard goesOn else { return }
            rest = rest[(end + 1)...]
        }
        guard !headers.contains(where: { $0.name.lowercased() == "transfer-encoding" }) else { return }
        let length = headers.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) }
        let body = rest.prefix(min(max(length ?? .max, 0), bodyLimit))
        _ = unsafe body.withUnsafeBytes { unsafe takeBody($0) }
    }
}
