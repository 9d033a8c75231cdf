internal import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What runs in a ``Sink``'s process: `sluice-bench --sink`.
enum SinkProcess {
    static func run() throws {
        let listener = try Libc.check("socket", socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        try unsafe withUnsafeMutablePointer(to: &address) { address in
            try unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                try Libc.check("bind", unsafe bind(listener, address, length))
                try Libc.check("listen", listen(listener, 1024))
                try Libc.check("getsockname", unsafe getsockname(listener, address, &length))
            }
        }
        try unsafe Array("\(UInt16(bigEndian: address.sin_port))\n".utf8).withUnsafeBytes {
            unsafe try Libc.writeAll(1, $0)
        }
        while let connection = try accept(listener) {
            // A client may keep a connection for later, so each has a thread.
            try WorkerThread.start("sink") {
                try? serve(connection, Libc.Buffer(256 * 1024))
                close(connection)
            }
        }
    }

    /// The next connection, or nil when the parent is gone.
    private static func accept(_ listener: Int32) throws -> Int32? {
        var set = [
            pollfd(fd: 0, events: Int16(POLLIN), revents: 0),
            pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
        ]
        try Libc.check("poll", unsafe poll(&set, 2, -1))
        if set[0].revents != 0 { return nil }
        return try Libc.check("accept", Glibc.accept(listener, nil, nil))
    }

    private static func serve(_ connection: Int32, _ buffer: Libc.Buffer) throws {
        while true {
            var count = try Libc.check("read", unsafe read(connection, buffer.bytes.baseAddress, buffer.bytes.count))
            if count == 0 { return }
            if unsafe buffer.bytes[..<count].starts(with: Array("GET /".utf8)) {
                try send(buffer, to: connection, requestLength: count)
                continue
            }
            guard unsafe buffer.bytes[..<count].starts(with: Array("POST".utf8)) else {
                // Not HTTP: all there is, then the end.
                while try Libc.check("read", unsafe read(connection, buffer.bytes.baseAddress, buffer.bytes.count)) > 0
                {}
                return
            }
            // The heads of the clients measured here are far smaller than the buffer.
            var head = ""
            while true {
                unsafe head = String(decoding: buffer.bytes[..<min(count, 8192)], as: UTF8.self)
                if head.utf8.contains(sequence: "\r\n\r\n") { break }
                count += try Libc.check(
                    "read",
                    unsafe read(connection, buffer.bytes.baseAddress?.advanced(by: count), buffer.bytes.count - count)
                )
            }
            let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
            let headLength = lines.prefix { !$0.isEmpty }.reduce(2) { $0 + $1.utf8.count + 2 }
            let length = lines.first { $0.lowercased().hasPrefix("content-length:") }
                .flatMap { Int64($0.split(separator: ":")[1].drop { $0 == " " }) }
            if head.lowercased().contains("expect: 100-continue") {
                try reply(connection, "HTTP/1.1 100 Continue\r\n\r\n")
            }
            guard let length else {
                let start = unsafe UnsafeRawBufferPointer(rebasing: buffer.bytes[headLength..<count])
                guard try unsafe drainChunks(connection, buffer, Array(start)) else { return }
                try reply(connection, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                continue
            }
            var rest = length - Int64(count - headLength)
            while rest > 0 {
                let wanted = min(rest, Int64(unsafe buffer.bytes.count))
                let count = try Libc.check("read", unsafe read(connection, buffer.bytes.baseAddress, Int(wanted)))
                if count == 0 { return }
                rest -= Int64(count)
            }
            try reply(connection, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
    }

    /// Reads a chunked body.
    ///
    /// - Parameters:
    ///   - connection: Where it comes from.
    ///   - buffer: What it is read into.
    ///   - start: What of it came with the head.
    /// - Throws: The system's error.
    /// - Returns: Whether it came to its end.
    private static func drainChunks(_ connection: Int32, _ buffer: Libc.Buffer, _ start: [UInt8]) throws -> Bool {
        var line: [UInt8] = []
        // Of the chunk, and of the end of the line behind it.
        var rest = 0
        var isLast = false
        var bytes = start[...]
        while true {
            while rest > 0 || !bytes.isEmpty {
                if bytes.isEmpty {
                    let count = try Libc.check(
                        "read",
                        unsafe read(connection, buffer.bytes.baseAddress, min(rest, buffer.bytes.count))
                    )
                    if count == 0 { return false }
                    rest -= count
                } else {
                    let skipped = min(rest, bytes.count)
                    bytes = bytes.dropFirst(skipped)
                    rest -= skipped
                }
                if rest > 0 { continue }
                if isLast { return true }
                while let byte = bytes.popFirst() {
                    line.append(byte)
                    guard byte == 0x0A else { continue }
                    let digits = line.prefix { $0 != 0x0D && $0 != 0x3B }
                    guard let size = Int(String(decoding: digits, as: UTF8.self), radix: 16) else { return false }
                    line.removeAll(keepingCapacity: true)
                    // No client that is measured here sends trailers: an empty line ends it all.
                    isLast = size == 0
                    rest = size + 2
                    break
                }
            }
            var more = [UInt8](repeating: 0, count: 16)
            let count = try Libc.check("read", unsafe read(connection, &more, more.count))
            if count == 0 { return false }
            bytes = more[..<count]
        }
    }

    /// Answers `GET /COUNT` with as many bytes.
    private static func send(_ buffer: Libc.Buffer, to connection: Int32, requestLength: Int) throws {
        let target = unsafe buffer.bytes[5..<requestLength].prefix { $0 != 0x20 }
        let length = unsafe Int64(String(decoding: target, as: UTF8.self)) ?? 0
        try reply(connection, "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\nETag: \"\(length)\"\r\n\r\n")
        var rest = length
        while rest > 0 {
            let count = min(rest, Int64(unsafe buffer.bytes.count))
            unsafe try Libc.writeAll(connection, UnsafeRawBufferPointer(rebasing: buffer.bytes[..<Int(count)]))
            rest -= count
        }
    }

    private static func reply(_ connection: Int32, _ text: String) throws {
        try unsafe Array(text.utf8).withUnsafeBytes { unsafe try Libc.writeAll(connection, $0) }
    }
}

extension String.UTF8View {
    fileprivate func contains(sequence text: String) -> Bool {
        let needle = Array(text.utf8)
        return indices.contains { self[$0...].starts(with: needle) }
    }
}
