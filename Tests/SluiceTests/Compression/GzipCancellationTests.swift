import Glibc
import SluiceTestSupport
import Synchronization
import Testing

@testable import Sluice

/// Readers that end early leave no thread, no descriptor and no sequence behind.
///
/// Threads are counted in processes of their own, since other tests have some as well.
@Suite(.timeLimit(.minutes(10))) struct GzipCancellationTests {
    private static func isIdle() -> Bool {
        ProcessState.threadNames().allSatisfy { $0 != "sluice-gzip" && $0 != "sluice-read" }
    }

    /// Bytes without an end.
    private static func endless() -> GeneratorSource {
        GeneratorSource.restartable { { buffer in while buffer.freeCapacity > 0 { buffer.append(7) } } }
    }

    @Test(arguments: [1, 2, 8])
    func `A reader that is let go ends its workers`(workers: Int) async {
        await #expect(processExitsWith: .success) { [workers = workers as Int] in
            for _ in 0..<10 {
                let body = try OnePart.body(try GzipSource(Self.endless(), level: 1, workers: .init(workers)))
                try await onThread {
                    let reader = try body.makeReader()
                    var bytes: [UInt8] = []
                    for _ in 0..<5 { #expect(try reader.read(appendingTo: &bytes, upTo: 1000) > 0) }
                }
            }
            #expect(await eventually { Self.isIdle() })
        }
    }

    @Test(arguments: [1, 2])
    func `Cancelling the task that takes chunks ends everything`(workers: Int) async {
        await #expect(processExitsWith: .success) { [workers = workers as Int] in
            let part = Part(disposition: nil, mediaType: nil, source: Self.endless())
            let body = try OnePart.body(part.gzip(level: 1, workers: .init(workers)))
            for _ in 0..<5 {
                let received = Mutex(0)
                let task = Task {
                    for try await chunk in body.chunks(ofSize: 1000) { received.withLock { $0 += chunk.count } }
                }
                #expect(await eventually { received.withLock { $0 } > 10_000 })
                task.cancel()
                #expect(await failure { try await task.value }?.code == .cancelled)
            }
            #expect(await eventually { Self.isIdle() })
        }
    }

    enum Wait: String, CaseIterable, Sendable, Codable { case pipe, sequence }

    private static func part(_ wait: Wait, _ upstream: Upstream, _ pipe: Channel) -> Part {
        switch wait {
        case .pipe:
            Part(disposition: nil, mediaType: nil, file: FileSource(descriptor: dup(pipe.readEnd), ownership: .owned))
        case .sequence:
            Part(disposition: nil, mediaType: nil, source: AsyncSource(upstream.chunks([[1, 2]], then: .wait)))
        }
    }

    @Test(arguments: Wait.allCases, [1, 2])
    func `An interrupt ends a wait for the source`(wait: Wait, workers: Int) async {
        await #expect(processExitsWith: .success) { [wait = wait as Wait, workers = workers as Int] in
            let upstream = Upstream()
            let pipe = try Channel.pipe()
            let open = ProcessState.openDescriptors().values.filter { $0.hasPrefix("pipe:") }.count
            for _ in 0..<5 {
                let body = try OnePart.body(Self.part(wait, upstream, pipe).gzip(workers: .init(workers)))
                let interrupt = ReadInterrupt()
                let reading = Task { try await onThread { try body.bytes(interrupt: interrupt) } }
                try await Task.sleep(for: .milliseconds(50))
                interrupt.trigger()
                #expect(await failure { try await reading.value }?.code == .cancelled)
            }
            #expect(await eventually { Self.isIdle() })
            #expect(await eventually { upstream.started == upstream.released })
            #expect(
                await eventually {
                    ProcessState.openDescriptors().values.filter { $0.hasPrefix("pipe:") }.count <= open
                }
            )
        }
    }

    @Test(arguments: Wait.allCases, [1, 2])
    func `Leaving the loop over chunks ends a wait for the source`(wait: Wait, workers: Int) async {
        await #expect(processExitsWith: .success) { [wait = wait as Wait, workers = workers as Int] in
            let upstream = Upstream()
            let pipe = try Channel.pipe()
            for _ in 0..<5 {
                let body = try OnePart.body(Self.part(wait, upstream, pipe).gzip(workers: .init(workers)))
                for try await chunk in body.chunks(ofSize: 1000) {
                    #expect(!chunk.isEmpty)
                    break
                }
            }
            #expect(await eventually { Self.isIdle() })
            #expect(await eventually { upstream.started == upstream.released })
        }
    }

    @Test(arguments: Wait.allCases, [1, 2])
    func `An interrupt ends compressing ahead, where that waits for the source`(wait: Wait, workers: Int) async {
        await #expect(processExitsWith: .success) { [wait = wait as Wait, workers = workers as Int] in
            let upstream = Upstream()
            let pipe = try Channel.pipe()
            for isNested in [false, true] {
                let part = Self.part(wait, upstream, pipe)
                    .gzip(workers: .init(workers), length: .spooled(memoryLimit: 1000))
                var form = MultipartForm(subtype: .mixed)
                try form.append(part)
                if isNested {
                    var outer = MultipartForm(subtype: .mixed)
                    let nested = Part(disposition: nil, form: form)
                    try outer.append(nested.gzip(mode: .contentEncoding))
                    form = outer
                }
                let interrupt = ReadInterrupt()
                let making = Task { [form] in try await onThread { try form.body(interrupt: interrupt) } }
                // The compressing has begun, or it is refused at its start.
                if wait == .sequence { #expect(await eventually { upstream.started > 0 }) }
                try await Task.sleep(for: .milliseconds(50))
                interrupt.trigger()
                #expect(await failure { try await making.value }?.code == .cancelled)
                #expect(throwing(.cancelled) { try form.body(interrupt: interrupt) })
            }
            #expect(await eventually { Self.isIdle() })
            #expect(await eventually { upstream.started == upstream.released })
        }
    }

    @Test func `The source is not touched any more when a reader is gone`() async {
        await #expect(processExitsWith: .success) {
            let inside = Atomic(0)
            let source = GeneratorSource.restartable {
                { buffer in
                    inside.add(1, ordering: .sequentiallyConsistent)
                    usleep(1000)
                    while buffer.freeCapacity > 0 { buffer.append(1) }
                    inside.subtract(1, ordering: .sequentiallyConsistent)
                }
            }
            try await onThread {
                for _ in 0..<50 {
                    var reader: BodyReader? = try OnePart.body(try GzipSource(source, level: 1, workers: 4))
                        .makeReader()
                    var bytes: [UInt8] = []
                    for _ in 0..<3 { _ = try reader?.read(appendingTo: &bytes, upTo: 1000) }
                    reader = nil
                    #expect(inside.load(ordering: .sequentiallyConsistent) == 0)
                }
            }
            #expect(await eventually { Self.isIdle() })
        }
    }
}
