import SluiceTestSupport
import Testing

@testable import SluiceTool

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

@Suite struct LowWaterMarkTests {
    private static let much = LowWaterMark.raised
    private static let farAway = Int64(1) << 40

    @Test func `Whoever waits is woken for much at a time where bytes come fast`() async throws {
        try await onThread {
            let connection = try Connection()
            _ = try connection.raisedMark()
            try connection.send(1)
            #expect(!connection.isReadable(within: 100))
            try connection.send(Self.much)
            #expect(connection.isReadable(within: 20_000))
        }
    }

    @Test func `A sender that becomes slow is heard at once`() async throws {
        try await onThread {
            let connection = try Connection()
            var mark = LowWaterMark(connection.reader)
            #expect(!connection.waits(&mark, after: Self.much, of: Self.farAway))
            try connection.send(1)
            #expect(connection.isReadable(within: 20_000))
        }
    }

    private static let endings: [(last: Int, remaining: Int64)] = [(1, farAway), (much, 0), (much, Int64(much) * 2)]

    @Test(arguments: endings)
    func `So is one that was slow before, and one that has little left to send`(
        last: Int,
        remaining: Int64
    ) async throws {
        try await onThread {
            let connection = try Connection()
            var mark = try connection.raisedMark()
            #expect(!connection.waits(&mark, after: last, of: remaining))
            try connection.send(1)
            #expect(connection.isReadable(within: 20_000))
        }
    }

    @Test func `So is one whose upload is not wanted any more`() async throws {
        try await onThread {
            let connection = try Connection()
            var mark = try connection.raisedMark()
            mark.lower()
            try connection.send(1)
            #expect(connection.isReadable(within: 20_000))
        }
    }

    @Test func `The end of what is sent is heard at once`() async throws {
        try await onThread {
            let connection = try Connection()
            _ = try connection.raisedMark()
            shutdown(connection.writer, Int32(SHUT_WR))
            #expect(connection.isReadable(within: 20_000))
        }
    }
}

/// A TCP connection, both of whose ends are here.
private final class Connection {
    private let channel: Channel

    init() throws {
        channel = try Channel.loopback()
        for end in [channel.readEnd, channel.writeEnd] {
            var size = Int32(4 << 20)
            let option = end == channel.readEnd ? SO_RCVBUF : SO_SNDBUF
            unsafe setsockopt(end, SOL_SOCKET, option, &size, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    deinit {
        close(channel.readEnd)
        close(channel.writeEnd)
    }

    var reader: Int32 { channel.readEnd }
    var writer: Int32 { channel.writeEnd }

    func send(_ count: Int) throws {
        let bytes = [UInt8](repeating: 0, count: count)
        guard unsafe write(writer, bytes, count) == count else { throw SystemFailure("write") }
    }

    func receive(_ count: Int) throws {
        var bytes = [UInt8](repeating: 0, count: count)
        guard unsafe recv(reader, &bytes, count, Int32(MSG_WAITALL)) == count else {
            throw SystemFailure("recv")
        }
    }

    /// A mark that was raised, with nothing left to be read.
    func raisedMark() throws -> LowWaterMark {
        var mark = LowWaterMark(reader)
        try send(LowWaterMark.raised)
        #expect(waits(&mark, after: LowWaterMark.raised, of: .max))
        try receive(LowWaterMark.raised)
        return mark
    }

    /// Whether the mark says that there is more; a macro's expression cannot change it.
    func waits(_ mark: inout LowWaterMark, after count: Int, of remaining: Int64) -> Bool {
        mark.wait(after: count, of: remaining)
    }

    func isReadable(within milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, milliseconds) > 0
    }
}
