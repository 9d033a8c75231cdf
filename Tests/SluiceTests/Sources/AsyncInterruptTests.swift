import Sluice
import SluiceTestSupport
import Testing

/// An `AsyncStream` ends when its task is cancelled, which must not look like the end of the bytes.
@Suite(.timeLimit(.minutes(5))) struct AsyncInterruptTests {
    @Test func `An interrupted read of an async stream is never a complete body`() async throws {
        for round in 0..<500 {
            let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
            continuation.yield([1, 2, 3])
            let body = try MultipartForm { Part.file("a", AsyncSource(stream), filename: "a") }.body()
            let interrupt = ReadInterrupt()
            async let outcome = onThread { failure(of: { try body.bytes(interrupt: interrupt) })?.code }
            // Sometimes before the read, sometimes while it waits.
            for _ in 0..<round % 50 { await Task.yield() }
            interrupt.trigger()
            #expect(try await outcome == .cancelled, "round \(round)")
            continuation.finish()
        }
    }
}
