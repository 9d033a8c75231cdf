import SluiceTestSupport
import Testing

@testable import Sluice

/// Readers of one body, each on a thread of its own, disturb each other in nothing.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ParallelReaderTests {
    /// What a body holds beside a field.
    enum Content: String, CaseIterable, Sendable {
        case file, memory, descriptor, gzip, gzipOfWorkers, measured, spooled, nested
    }

    private static let file = GzipSamples.text(200_000)

    private func body(_ content: Content, _ path: String) throws -> MultipartBody {
        var form = MultipartForm(boundary: try Boundary("b"))
        try form.append(.field("first", "1"))
        let part = Part.file("file", path: path)
        switch content {
        case .file: try form.append(part)
        case .memory: try form.append(.file("file", bytes: Self.file, filename: "f"))
        case .descriptor:
            let descriptor = try Files.descriptor(of: path)
            try form.append(.file("file", FileSource(descriptor: descriptor, ownership: .owned), filename: "f"))
        case .gzip: try form.append(part.gzip(workers: 1, blockSize: 32 << 10))
        case .gzipOfWorkers: try form.append(part.gzip(workers: 3, blockSize: 32 << 10))
        case .measured: try form.append(part.gzip(workers: 1, length: .measured))
        case .spooled: try form.append(part.gzip(workers: 1, length: .spooled(memoryLimit: 100)))
        case .nested:
            var inner = MultipartForm(subtype: .mixed, boundary: try Boundary("i"))
            try inner.append(part)
            try form.append(.form("inner", inner))
        }
        return try form.body()
    }

    @Test(arguments: Content.allCases, seeds(fixed: 1, fresh: 1))
    func `Eight readers from anywhere all read the same body`(content: Content, seed: UInt64) async throws {
        let directory = try TemporaryDirectory()
        let path = try directory.file("f", Self.file)
        let body = try await onThread { try self.body(content, path) }
        let expected = try await onThread { try body.bytes() }
        var random = SeededGenerator(seed: seed)
        let starts = (0..<40).map { _ in Int.random(in: 0...expected.count, using: &random) }
        try await withThrowingTaskGroup { group in
            for lane in 0..<8 {
                group.addTask {
                    try await onThread {
                        for start in starts[(lane * 5)..<(lane * 5 + 5)] {
                            let bytes = try body.bytes(from: Int64(start), bufferSize: 1000 + lane * 999)
                            #expect(difference(bytes, Array(expected[start...])) == nil, "from \(start)")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(arguments: seeds(fixed: 1, fresh: 2))
    func `An interrupt from another thread ends one reader, and no other`(seed: UInt64) async throws {
        let directory = try TemporaryDirectory()
        let path = try directory.file("f", Self.file)
        let body = try self.body(.gzipOfWorkers, path)
        let expected = try await onThread { try body.bytes() }
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let interrupt = ReadInterrupt()
            async let other = onThread { try body.bytes() }
            async let interrupted = onThread { () -> [UInt8]? in
                do throws(MultipartError) {
                    return try body.bytes(bufferSize: 500, interrupt: interrupt)
                } catch {
                    #expect(error.code == .cancelled)
                    return nil
                }
            }
            try await Task.sleep(for: .microseconds(Int.random(in: 0...20_000, using: &random)))
            interrupt.trigger()
            if let bytes = try await interrupted { #expect(difference(bytes, expected) == nil) }
            #expect(difference(try await other, expected) == nil)
        }
    }
}
