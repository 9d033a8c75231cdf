import Sluice
import SluiceTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct ReadInterruptTests {
    @Test func `An interrupt is triggered once, and stays so`() {
        let interrupt = ReadInterrupt()
        #expect(!interrupt.isTriggered)
        interrupt.trigger()
        interrupt.trigger()
        #expect(interrupt.isTriggered)
    }

    @Test func `A triggered interrupt stops a reader of memory, too`() throws {
        let body = try OnePart.body(Part(disposition: nil, mediaType: nil, bytes: [1, 2, 3]))
        let interrupt = ReadInterrupt()
        let reader = try body.makeReader(interrupt: interrupt)
        var byte: UInt8 = 0
        #expect(try unsafe withUnsafeMutableBytes(of: &byte) { unsafe try reader.read(into: $0) } == 1)
        interrupt.trigger()
        #expect(throwing(.cancelled) { try reader.rest(bufferSize: 10) })
    }

    @Test func `A triggered interrupt stops a reader on its way to an offset`() throws {
        let calls = Mutex(0)
        let interrupt = ReadInterrupt()
        let source = GeneratorSource.restartable(knownLength: 1 << 40) {
            { buffer in
                let call = calls.withLock { calls in
                    calls += 1
                    return calls
                }
                if call == 3 { interrupt.trigger() }
                for _ in 0..<buffer.freeCapacity { buffer.append(0 as UInt8) }
            }
        }
        let body = try OnePart.body(source)
        #expect(throwing(.cancelled) { try body.bytes(from: 1 << 30, interrupt: interrupt) })
        #expect(calls.withLock { $0 } == 3)
    }

    @Test func `One interrupt ends the waits of many readers`() async throws {
        let interrupt = ReadInterrupt()
        let upstream = Upstream()
        var channels: [Channel] = []
        try await withThrowingTaskGroup(of: MultipartError?.self) { group in
            for _ in 0..<10 {
                let channel = try Channel.pipe()
                channels.append(channel)
                let pipe = try OnePart.body(FileSource(descriptor: channel.readEnd, ownership: .borrowed))
                let sequence = try OnePart.body(AsyncSource(upstream.chunks([], then: .wait)))
                for body in [pipe, sequence] {
                    group.addTask { try await onThread { failure(of: { try body.bytes(interrupt: interrupt) }) } }
                }
            }
            #expect(await eventually { upstream.asked == 10 })
            interrupt.trigger()
            for try await error in group { #expect(error?.code == .cancelled) }
        }
        for channel in channels { channel.closeBoth() }
    }

    @Test func `An interrupt of readers that are gone holds nothing of theirs`() async throws {
        let interrupt = ReadInterrupt()
        let upstream = Upstream()
        let body = try OnePart.body(AsyncSource(upstream.chunks([[1]])))
        #expect(try await onThread { try body.bytes(interrupt: interrupt) } == OnePart.framed([1]))
        #expect(await eventually { upstream.released == 1 })
        interrupt.trigger()
        #expect(upstream.cancelled == 0)
    }
}
