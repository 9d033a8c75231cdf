#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The two ends of a pipe or socket.
package final class Channel: Sendable {
    package let readEnd: Int32
    package let writeEnd: Int32

    private init(_ ends: (Int32, Int32)) {
        (readEnd, writeEnd) = ends
    }

    package static func pipe() throws -> Channel {
        var ends: [Int32] = [-1, -1]
        guard unsafe makePipe(&ends) == 0 else { throw SystemFailure("pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return Channel((ends[0], ends[1]))
    }

    package static func socketPair() throws -> Channel {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw SystemFailure("socketpair") }
        return Channel((ends[0], ends[1]))
    }

    /// A TCP connection of this machine with itself.
    package static func loopback() throws -> Channel {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let listener = socket(AF_INET, kind, 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let writeEnd = socket(AF_INET, kind, 0)
        let isConnected = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                // The port is the system's choice.
                unsafe bind(listener, address, size) == 0 && listen(listener, 1) == 0
                    && getsockname(listener, address, &size) == 0 && connect(writeEnd, address, size) == 0
            }
        }
        let readEnd = accept(listener, nil, nil)
        guard isConnected, readEnd >= 0 else { throw SystemFailure("loopback connection") }
        _ = fcntl(readEnd, F_SETFD, FD_CLOEXEC)
        return Channel((readEnd, writeEnd))
    }

    /// A pipe that gives these bytes, which a thread writes, and then ends.
    package static func filled(with bytes: [UInt8]) throws -> Channel {
        let channel = try pipe()
        Task {
            try await onThread {
                defer { close(channel.writeEnd) }
                try writeAll(bytes, to: channel.writeEnd)
            }
        }
        return channel
    }

    package func closeBoth() {
        close(readEnd)
        close(writeEnd)
    }

    /// What `write` sends into the write end, while a thread reads it at the other one.
    ///
    /// - Parameters:
    ///   - step: The most bytes that are read at a time.
    ///   - write: Writes; its end is closed afterwards.
    /// - Returns: All bytes that came through.
    /// - Throws: What `write` throws.
    package func collect(
        step: Int = 64 * 1024,
        _ write: @escaping @Sendable (Int32) throws -> Void
    ) async throws -> [UInt8] {
        async let received = onThread {
            defer { close(self.readEnd) }
            return try readAll(self.readEnd, step: step)
        }
        let sent = await Task {
            try await onThread {
                defer { close(self.writeEnd) }
                try write(self.writeEnd)
            }
        }.result
        let bytes = try await received
        try sent.get()
        return bytes
    }
}

/// Everything up to the end of a descriptor.
package func readAll(_ descriptor: Int32, step: Int = 64 * 1024) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: step)
    while true {
        let count = unsafe read(descriptor, &buffer, step)
        if count < 0 && errno == EINTR { continue }
        guard count >= 0 else { throw SystemFailure("read") }
        if count == 0 { return bytes }
        bytes += buffer[..<count]
    }
}

/// Writes all of it, as often as it takes.
package func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { throw SystemFailure("write") }
        rest = rest.dropFirst(count)
    }
}

/// The system's `pipe`, which ``Channel/pipe()`` hides.
private func makePipe(_ ends: UnsafeMutablePointer<Int32>) -> Int32 { unsafe pipe(ends) }
