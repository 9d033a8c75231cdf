import Sluice
import SluiceTestSupport
import Synchronization
import Testing

/// The hand-off between a task that awaits a sequence and a thread that reads it.
@Suite(.timeLimit(.minutes(5))) struct AsyncHandoffTests {
    /// A body of one async part, and the number of bytes before its content.
    private func body(_ source: AsyncSource) throws -> (body: MultipartBody, head: Int) {
        var form = MultipartForm(subtype: .mixed, boundary: try Boundary("b"))
        try form.append(Part(disposition: nil, mediaType: nil, source: source))
        return (try form.body(), "--b\r\n\r\n".utf8.count)
    }

    @Test(arguments: [1, 3, 4, 64])
    func `A thread that reads never finds the sequence more than one chunk ahead of it`(bufferSize: Int) async throws {
        let upstream = Upstream()
        let taken = Mutex(0)
        let worst = Mutex(Int.min)
        let sequence = upstream.chunks((0..<200).map { [UInt8](repeating: $0, count: 4) }) { number in
            // Chunk n is asked for when the reader has begun chunk n - 1, and so is done with chunk n - 2.
            let done = taken.withLock { $0 / 4 }
            worst.withLock { $0 = max($0, number - done) }
        }
        let (body, head) = try body(AsyncSource(sequence))
        let count = try await onThread {
            let reader = try body.makeReader()
            var buffer = [UInt8](repeating: 0, count: bufferSize)
            var total = 0
            while true {
                let count = try unsafe buffer.withUnsafeMutableBytes { unsafe try reader.read(into: $0) }
                if count == 0 { return total }
                total += count
                taken.withLock { $0 = max(total - head, 0) }
            }
        }
        #expect(count == head + 800 + "\r\n--b--\r\n".utf8.count)
        // What the reader has begun counts as taken from the task's side before the reader's read has returned.
        #expect(worst.withLock { $0 } <= 2, "\(worst.withLock { $0 }) chunks")
        #expect(upstream.asked == 201)
    }

    @Test func `A sequence that is awaited is not asked ahead at all`() async throws {
        let upstream = Upstream()
        let (body, _) = try body(AsyncSource(upstream.chunks((0..<50).map { [$0] })))
        var content = 0
        for try await chunk in body.chunks(ofSize: 100) {
            if upstream.asked > 0 && upstream.asked <= 50 {
                content += 1
                #expect(upstream.asked == content && chunk == [UInt8(content - 1)])
            }
        }
        #expect(content == 50)
        #expect(upstream.asked == 51)
    }

    @Test func `A reader that stops to read leaves the sequence alone`() async throws {
        let upstream = Upstream()
        let (body, head) = try body(AsyncSource(upstream.chunks((0..<50).map { [$0, $0] })))
        let reader = try await onThread {
            let reader = try body.makeReader()
            var buffer = [UInt8](repeating: 0, count: head + 1)
            _ = try unsafe buffer.withUnsafeMutableBytes { unsafe try reader.read(into: $0) }
            _ = try unsafe buffer.withUnsafeMutableBytes { unsafe try reader.read(into: .init(rebasing: $0[..<1])) }
            return Unchecked(reader)
        }
        #expect(await eventually { upstream.asked == 2 })
        for _ in 0..<20 { await Task.yield() }
        #expect(upstream.asked == 2)
        withExtendedLifetime(reader) {}
    }

    @Test func `Releasing a reader that waits for nobody ends the sequence's task`() async throws {
        let upstream = Upstream()
        let (body, head) = try body(AsyncSource(upstream.chunks([[1, 2, 3]], then: .wait)))
        try await onThread {
            let reader = try body.makeReader()
            var buffer = [UInt8](repeating: 0, count: head + 1)
            for _ in 0..<2 {
                _ = try unsafe buffer.withUnsafeMutableBytes {
                    unsafe try reader.read(into: .init(rebasing: $0[..<head]))
                }
            }
        }
        #expect(await eventually { upstream.released == 1 })
    }

    @Test func `A reader that is released while the sequence waits cancels the wait`() async throws {
        let upstream = Upstream()
        let (body, head) = try body(AsyncSource(upstream.chunks([[1]], then: .wait)))
        let reader = try await onThread {
            let reader = try body.makeReader()
            var buffer = [UInt8](repeating: 0, count: head + 1)
            for _ in 0..<2 {
                _ = try unsafe buffer.withUnsafeMutableBytes {
                    unsafe try reader.read(into: .init(rebasing: $0[..<head]))
                }
            }
            return Unchecked(reader)
        }
        #expect(await eventually { upstream.asked == 2 })
        #expect(upstream.cancelled == 0)
        reader.release()
        #expect(await eventually { upstream.cancelled == 1 && upstream.released == 1 })
    }

    @Test func `An interrupt ends a read that waits, and the sequence with it`() async throws {
        let upstream = Upstream()
        let interrupt = ReadInterrupt()
        let (body, _) = try body(AsyncSource(upstream.chunks([], then: .wait)))
        async let error = onThread { failure(of: { try body.bytes(interrupt: interrupt) }) }
        #expect(await eventually { upstream.asked == 1 })
        interrupt.trigger()
        #expect(try await error?.code == .cancelled)
        #expect(await eventually { upstream.cancelled == 1 && upstream.released == 1 })
    }

    @Test func `An interrupt that was triggered before is noticed at once`() async throws {
        let upstream = Upstream()
        let interrupt = ReadInterrupt()
        interrupt.trigger()
        let (body, _) = try body(AsyncSource(upstream.chunks([], then: .wait)))
        let error = try await onThread { failure(of: { try body.bytes(interrupt: interrupt) }) }
        #expect(error?.code == .cancelled)
        #expect(upstream.started == 0)
    }

    @Test func `A stream's onTermination is called when its reader goes away`() async throws {
        let isTerminated = Mutex(false)
        let stream = AsyncStream<[UInt8]> { continuation in
            continuation.onTermination = { _ in isTerminated.withLock { $0 = true } }
            continuation.yield([1])
        }
        let (body, head) = try body(AsyncSource(stream))
        try await onThread {
            let reader = try body.makeReader()
            var buffer = [UInt8](repeating: 0, count: head + 1)
            _ = try unsafe buffer.withUnsafeMutableBytes { unsafe try reader.read(into: $0) }
            _ = try unsafe buffer.withUnsafeMutableBytes { unsafe try reader.read(into: $0) }
        }
        #expect(await eventually { isTerminated.withLock { $0 } })
    }

    @Test func `A hundred readers at once get their bytes`() async throws {
        let body = try body(
            .restartable { Upstream().chunks((0..<100).map { [UInt8](repeating: $0, count: 10) }) }
        ).body
        let expected = try await onThread { try body.bytes() }
        #expect(expected.count == "--b\r\n\r\n\r\n--b--\r\n".utf8.count + 1000)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for size in 1...100 {
                group.addTask { try await onThread { try body.bytes(bufferSize: size) == expected } }
            }
            for try await isEqual in group { #expect(isEqual) }
        }
    }
}

/// Carries a reader from one thread to another, which use it one after the other.
private final class Unchecked: @unchecked Sendable {
    private var reader: BodyReader?

    init(_ reader: BodyReader) {
        self.reader = reader
    }

    func release() {
        reader = nil
    }
}
