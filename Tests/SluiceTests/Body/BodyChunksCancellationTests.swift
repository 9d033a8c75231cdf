import Glibc
import Sluice
import SluiceTestSupport
import Synchronization
import Testing

/// An iteration that ends early leaves no thread, no descriptor and no sequence behind.
///
/// Threads and descriptors are counted in processes of their own, since other tests have some as well.
@Suite(.timeLimit(.minutes(10))) struct BodyChunksCancellationTests {
    /// What the consumer waits for when its task is cancelled.
    enum Wait: String, CaseIterable, Sendable, Codable { case fifo, pipe, sequence, sequenceOfKnownLength }

    /// A body that gives its head and then nothing, and the state that tells whether its source was let go.
    private static func body(
        _ wait: Wait,
        _ upstream: Upstream,
        _ directory: TemporaryDirectory,
        _ pipe: Channel
    ) throws -> MultipartBody {
        switch wait {
        case .fifo:
            try? Files.makeFIFO("\(directory.path)/fifo")
            return try OnePart.body(FileSource(path: "\(directory.path)/fifo"))
        case .pipe:
            // The write end stays open, so that there is no end to read.
            return try OnePart.body(FileSource(descriptor: dup(pipe.readEnd), ownership: .owned))
        case .sequence:
            return try OnePart.body(AsyncSource(upstream.chunks([], then: .wait)))
        case .sequenceOfKnownLength:
            return try OnePart.body(AsyncSource(upstream.chunks([[1]], then: .wait), knownLength: 10))
        }
    }

    private static func isIdle() -> Bool { !ProcessState.threadNames().contains("sluice-read") }

    /// How often a scenario is run, so that one leaked descriptor of each time tells from the runtime's own few.
    private static let rounds = 10

    /// Waits until what is open is what was open before.
    private static func expectClosed(allBut before: [String: String]) async {
        // The runtime opens events and files of /proc as it needs them, at most a few at a time.
        func ownOnes(_ descriptors: [String: String]) -> [String] {
            descriptors.values.filter { $0.hasPrefix("pipe:") || $0.contains("sluice-test") }.sorted()
        }
        let isClosed = await eventually {
            let now = ProcessState.openDescriptors()
            return ownOnes(now) == ownOnes(before) && now.count < before.count + rounds
        }
        #expect(isClosed, "open are \(ProcessState.openDescriptors()), and were \(before)")
    }

    @Test(arguments: Wait.allCases)
    func `Cancelling the task that waits ends it, and all that it started`(wait: Wait) async {
        await #expect(processExitsWith: .success) { [wait = wait as Wait] in
            let upstream = Upstream()
            let directory = try TemporaryDirectory()
            let pipe = try Channel.pipe()
            let before = ProcessState.openDescriptors()
            // What a sequence is asked for in a round, the ask that waits included.
            let asks = [.sequence: 1, .sequenceOfKnownLength: 2][wait] ?? 0
            for round in 1...Self.rounds {
                let body = try Self.body(wait, upstream, directory, pipe)
                let received = Mutex(0)
                let task = Task {
                    for try await chunk in body.chunks(ofSize: 100) { received.withLock { $0 += chunk.count } }
                }
                let expected = OnePart.head.count + (wait == .sequenceOfKnownLength ? 1 : 0)
                #expect(
                    await eventually { received.withLock { $0 } == expected && upstream.asked == round * asks }
                )
                task.cancel()
                #expect(await failure { try await task.value }?.code == .cancelled)
            }
            #expect(await eventually { Self.isIdle() })
            await Self.expectClosed(allBut: before)
            if wait == .sequence || wait == .sequenceOfKnownLength {
                #expect(await eventually { upstream.released == Self.rounds })
                #expect(upstream.cancelled == Self.rounds)
            }
        }
    }

    @Test(arguments: Wait.allCases)
    func `Leaving the loop ends all that it started`(wait: Wait) async {
        await #expect(processExitsWith: .success) { [wait = wait as Wait] in
            let upstream = Upstream()
            let directory = try TemporaryDirectory()
            let pipe = try Channel.pipe()
            let before = ProcessState.openDescriptors()
            for _ in 0..<Self.rounds {
                let body = try Self.body(wait, upstream, directory, pipe)
                for try await chunk in body.chunks(ofSize: 100) {
                    #expect(chunk == OnePart.head)
                    break
                }
            }
            #expect(await eventually { Self.isIdle() })
            await Self.expectClosed(allBut: before)
            #expect(upstream.started == upstream.released)
        }
    }

    @Test func `A thread within a generator that takes its time ends with the generator's call`() async {
        await #expect(processExitsWith: .success) {
            let gate = try Channel.pipe()
            let isEntered = Mutex(false)
            let source = GeneratorSource.once { _ in
                isEntered.withLock { $0 = true }
                _ = try readAll(gate.readEnd)
            }
            let body = try OnePart.body(source)
            let task = Task { try await body.chunks().all() }
            #expect(await eventually { isEntered.withLock { $0 } })
            task.cancel()
            // The consumer does not wait for the generator,
            #expect(await failure { try await task.value }?.code == .cancelled)
            #expect(!Self.isIdle())
            // and the thread goes when it comes back.
            close(gate.writeEnd)
            #expect(await eventually { Self.isIdle() })
        }
    }

    @Test func `A file that is half read is closed when the loop is left`() async throws {
        let directory = try TemporaryDirectory()
        let path = try directory.file("f", [UInt8](repeating: 1, count: 100_000))
        let body = try OnePart.body(FileSource(path: path))
        for try await chunk in body.chunks(ofSize: 100) where chunk != OnePart.head { break }
        #expect(await eventually { Files.openPaths(under: directory.path).isEmpty })
        let task = Task {
            for try await _ in body.chunks(ofSize: 100) { cancelThisTask() }
        }
        #expect(await failure { try await task.value }?.code == .cancelled)
        #expect(await eventually { Files.openPaths(under: directory.path).isEmpty })
    }

    @Test func `A task that was cancelled before reads nothing`() async throws {
        let upstream = Upstream()
        let body = try OnePart.body(AsyncSource(upstream.chunks([[1]])))
        let task = Task {
            cancelThisTask()
            return try await body.chunks().all()
        }
        #expect(await failure { try await task.value }?.code == .cancelled)
        #expect(upstream.started == 0)
    }

    @Test(arguments: [nil, 10] as [Int64?])
    func `A stream that ends because its task was cancelled is a cancellation, not an end`(length: Int64?) async throws
    {
        // AsyncStream gives nil to a cancelled task: without a look at the task, that is the end of the bytes.
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        let isTerminated = Mutex(false)
        continuation.onTermination = { _ in isTerminated.withLock { $0 = true } }
        continuation.yield([1, 2, 3])
        let body = try OnePart.body(AsyncSource(stream, knownLength: length))
        let received = Mutex(0)
        let task = Task {
            for try await chunk in body.chunks() { received.withLock { $0 += chunk.count } }
        }
        #expect(await eventually { received.withLock { $0 } == OnePart.head.count + 3 })
        task.cancel()
        #expect(await failure { try await task.value }?.code == .cancelled)
        #expect(isTerminated.withLock { $0 })
    }

    private func cancelThisTask() {
        unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
    }

    @Test func `Iterators that are never asked start nothing`() async throws {
        let upstream = Upstream()
        let body = try OnePart.body(AsyncSource(upstream.chunks([[1]])))
        for _ in 0..<100 { _ = body.chunks().makeAsyncIterator() }
        #expect(upstream.started == 0)
        #expect(try await body.chunks().all().flatMap(\.self) == OnePart.framed([1]))
    }

    @Test func `A hundred iterations that are cancelled at any time end`() async throws {
        let sample = try SampleForm(isLengthKnown: false)
        let body = try sample.form.body()
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let task = Task { try await body.chunks(ofSize: 3).all().flatMap(\.self) }
                    for _ in 0..<number { await Task.yield() }
                    task.cancel()
                    switch await task.result {
                    case .success(let bytes): return bytes == sample.expected
                    case .failure(let error): return (error as? MultipartError)?.code == .cancelled
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
