import SluiceTestSupport
import Synchronization
import Testing

@testable import Sluice

/// How much a save holds in memory, and how many threads.
@Suite(.timeLimit(.minutes(5))) struct FileSaverTests {
    /// A byte in a buffer that counts as long as it is held, and which cannot be written before a gate opens.
    private final class Drop: ContiguousMemory {
        struct Held {
            var now = 0
            var most = 0
        }

        private let gate: Monitor<Bool>
        private let held: Monitor<Held>

        init(_ gate: Monitor<Bool>, _ held: Monitor<Held>) {
            self.gate = gate
            self.held = held
            held.update { held in
                held.now += 1
                held.most = max(held.most, held.now)
            }
        }

        deinit { held.update { $0.now -= 1 } }

        var count: Int { 1 }

        func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
            gate.wait { $0 ? () : nil }
            return unsafe withUnsafeBytes(of: UInt8(7)) { unsafe body($0) }
        }
    }

    @Test func `Content that comes in drops is not piled up before a slow disk`() async throws {
        let directory = try TemporaryDirectory()
        let (gate, held) = (Monitor(false), Monitor(Drop.Held()))
        let appended = Atomic(0)
        let saver = FileSaver(path: directory.path + "/f", replacing: false)
        try saver.start()
        async let saving: Void = {
            for _ in 0..<1000 {
                try await saver.append(HeldBytes(Drop(gate, held)))
                appended.add(1, ordering: .sequentiallyConsistent)
            }
            try await saver.finish()
        }()
        // Time enough to pile all of it up, if nothing hinders.
        for _ in 0..<50 where appended.load(ordering: .sequentiallyConsistent) < 1000 {
            try await Task.sleep(for: .milliseconds(10))
        }
        gate.update { $0 = true }
        try await saving
        // 16 that are being written, 16 in the queue, and the next one.
        #expect(held.update { $0.most } <= 33)
        #expect(held.update { $0.now } == 0)
        #expect(try TemporaryDirectory.contents(ofFile: directory.path + "/f") == [UInt8](repeating: 7, count: 1000))
    }

    /// A byte that says when it is being written, and then holds its thread until a gate opens.
    private final class Turn: ContiguousMemory {
        private let turns: Monitor<Int>
        private let gate: Monitor<Bool>

        init(_ turns: Monitor<Int>, _ gate: Monitor<Bool>) {
            self.turns = turns
            self.gate = gate
        }

        var count: Int { 1 }

        func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
            turns.update { $0 += 1 }
            gate.wait { $0 ? () : nil }
            return unsafe withUnsafeBytes(of: UInt8(7)) { unsafe body($0) }
        }
    }

    @Test func `Files that always have something to write leave others their turn`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let savers = (0..<5).map { FileSaver(path: "\(directory.path)/\($0)", replacing: false) }
            for saver in savers { try saver.start() }
            let (first, second, last) = (Monitor(0), Monitor(0), Monitor(0))
            let (firstGate, secondGate) = (Monitor(false), Monitor(false))
            // As many as there are threads, each of which is held up, and has more to write.
            for saver in savers.prefix(4) { try await saver.append(HeldBytes(Turn(first, firstGate))) }
            #expect(await eventually { first.update { $0 } == 4 })
            for saver in savers.prefix(4) { try await saver.append(HeldBytes(Turn(second, secondGate))) }
            try await savers[4].append(HeldBytes(Turn(last, firstGate)))
            firstGate.update { $0 = true }
            #expect(await eventually { last.update { $0 } == 1 })
            secondGate.update { $0 = true }
            for (number, saver) in savers.enumerated() {
                try await saver.finish()
                let bytes = try TemporaryDirectory.contents(ofFile: "\(directory.path)/\(number)")
                #expect(bytes == [UInt8](repeating: 7, count: number < 4 ? 2 : 1))
            }
        }
    }

    @Test func `What is decompressed from drops comes in small pieces`() async throws {
        let content = Array(String(repeating: "some text, some more; ", count: 5000).utf8)
        let directory = try TemporaryDirectory()
        let path = try directory.file("f", content)
        let member = try await onThread {
            _ = try ChildProcess(["/bin/sh", "-c", "gzip -nc \"$0\" > \"$0.gz\"; echo", path]).readLine()
            return try TemporaryDirectory.contents(ofFile: path + ".gz")
        }
        for (size, most) in [(1, 4 << 10), (100, 4 << 10), (2000, 8 << 10), (1 << 20, 64 << 10)] {
            var limits = GunzipLimits(bytes: 1 << 20)
            limits.ratio = 1032
            var state = GunzipState(limits)
            var result: [UInt8] = []
            for chunk in chunked(member, [size]) {
                state.feed(HeldBytes(chunk))
                while let piece = try state.next() {
                    // What the allocator rounds up is not ours.
                    #expect(piece.capacity < most + 1024)
                    result += piece
                }
            }
            try state.finish()
            #expect(difference(result, content) == nil)
        }
    }

    @Test func `Saves that wait for their senders hold no threads but a few`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let upstreams = (0..<40).map { _ in Upstream() }
            let head = Array("--b\r\nContent-Disposition: form-data; name=a; filename=f\r\n\r\nv".utf8)
            let saves = upstreams.enumerated().map { number, upstream in
                let chunks = upstream.chunks([head, [1, 2]], then: .wait)
                return Task {
                    let reader = try MultipartReader(
                        chunks,
                        contentType: MultipartReaderTests.type,
                        limits: MultipartReaderTests.limits
                    )
                    for try await part in reader { try await part.save(to: "\(directory.path)/\(number)") }
                }
            }
            #expect(await eventually { upstreams.allSatisfy { $0.asked == 3 } })
            // All files are being written.
            #expect(await eventually { Files.openPaths(under: directory.path).count == 40 })
            #expect(ProcessState.threadNames().count { $0.hasPrefix("sluice-") } <= 4)
            for save in saves { save.cancel() }
            for save in saves { #expect(await failure { try await save.value }?.code == .cancelled) }
            #expect(Files.openPaths(under: directory.path).isEmpty)
            #expect(await eventually { !ProcessState.threadNames().contains { $0.hasPrefix("sluice-") } })
        }
    }
}
