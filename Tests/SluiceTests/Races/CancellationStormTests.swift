import Foundation
import SluiceTestSupport
import Testing

@testable import Sluice

/// Reading and parsing that is cancelled at random moments gives the right bytes or the error of a cancellation, and leaves
/// no descriptor, no thread, no file and no sequence behind.
///
/// In processes of their own, since other tests have some as well. `SLUICE_CANCELLATIONS` says how often each is done.
@Suite(.serialized, .timeLimit(.minutes(60))) struct CancellationStormTests {
    enum Use: String, CaseIterable, Codable, Sendable {
        case chunks, gzipChunks, interruptedReader, interruptedGzip, spooled, collect, save
    }

    @Test(arguments: Use.allCases)
    func `Cancelled at any moment, it leaves nothing behind`(use: Use) async throws {
        let count = CancellationStorm.count(ProcessInfo.processInfo.environment, few: 64)
        let seed = UInt64.random(in: .min ... .max)
        let directory = try TemporaryDirectory()
        let result = try directory.file("counts", [])
        await #expect(processExitsWith: .success) {
            [use = use as Use, count = count as Int, seed = seed as UInt64, result = result as String] in
            let bench = try StormBench(use)
            let before = Holdings()
            let counts = try await CancellationStorm(count: count, seed: seed).run { try await bench.run($0) }
            let isTidy = await ProcessState.settles(within: 60) { Holdings().isWithin(before) }
            #expect(isTidy, "\(use), seed \(seed): \(Holdings()), before \(before)")
            #expect(await eventually { bench.upstream.started == bench.upstream.released })
            #expect(bench.leftOver() == [], "\(use), seed \(seed)")
            try Files.append(Array("\(counts)".utf8), to: result)
        }
        let counts = try TemporaryDirectory.contents(ofFile: result)
        print("\(use): \(String(decoding: counts, as: UTF8.self)), seed \(seed)")
    }
}

/// What a process has open, but for the timers and events that the runtime makes as it likes.
private struct Holdings: CustomStringConvertible {
    private let open = ProcessState.openDescriptors().values.filter {
        !$0.hasPrefix("anon_inode:") && !$0.hasPrefix("/proc")
    }
    private let threads = ProcessState.threadNames().filter { $0.hasPrefix("sluice-") }

    func isWithin(_ other: Holdings) -> Bool { open.count <= other.open.count && threads.isEmpty }

    var description: String { "\(open.sorted()), \(threads)" }
}

private struct StormBench {
    typealias Use = CancellationStormTests.Use

    let upstream = Upstream()
    private let use: Use
    private let directory: TemporaryDirectory
    private let saved: TemporaryDirectory
    private let file: [UInt8]
    private let path: String
    private let expected: [UInt8]
    /// The body of the file, compressed, of which tests of gzip say that it is right.
    private let compressed: [UInt8]

    init(_ use: Use) throws {
        self.use = use
        directory = try TemporaryDirectory()
        saved = try TemporaryDirectory()
        file = GzipSamples.text(300_000)
        path = try directory.file("file", file)
        compressed = try Self.gzipBody(path).bytes()
        expected = ReferenceEncoder.encode(
            boundary: "b",
            [
                .formData(name: "file", filename: "file", type: "application/octet-stream", content: file),
                .formData(name: "async", filename: "a", type: "application/octet-stream", content: file),
            ]
        )
    }

    /// What lies in the directory of files that were saved, but for whole ones.
    func leftOver() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: saved.path)) ?? ["no directory"]
        return names.filter { (try? TemporaryDirectory.contents(ofFile: "\(saved.path)/\($0)")) != file }
    }

    /// - Returns: Whether it was done; false where it was cancelled.
    func run(_ number: Int) async throws -> Bool {
        do {
            switch use {
            case .chunks:
                var bytes: [UInt8] = []
                for try await chunk in try plainBody().chunks(ofSize: 20_000) { bytes += chunk }
                check(bytes, expected)
            case .gzipChunks:
                var bytes: [UInt8] = []
                for try await chunk in try Self.gzipBody(path).chunks(ofSize: 2000) { bytes += chunk }
                check(bytes, compressed)
            case .interruptedReader:
                check(try await interrupted(try plainBody()), expected)
            case .interruptedGzip:
                check(try await interrupted(try Self.gzipBody(path)), compressed)
            case .spooled:
                let body = try await onThread { try Self.gzipBody(path, .spooled(memoryLimit: 1000)) }
                check(try await interrupted(body), compressed)
            case .collect:
                for try await part in try reader(of: plainBody().chunks(ofSize: 5000)) {
                    check(try await part.collect(upTo: 1 << 20), file)
                }
            case .save:
                for try await part in try reader(of: upstream.chunks(chunked(expected, [5000, 1, 30_000]))) {
                    try await part.save(to: "\(saved.path)/\(number)-\(part.headers.index)", replacing: true)
                }
            }
            return true
        } catch let error as MultipartError where error.code == .cancelled {
            return false
        }
    }

    private func check(_ bytes: [UInt8], _ expected: [UInt8]) {
        #expect(difference(bytes, expected) == nil)
    }

    private func plainBody() throws -> MultipartBody {
        var form = MultipartForm(boundary: try Boundary("b"))
        try form.addFile(name: "file", path: path)
        try form.append(.file("async", AsyncSource(upstream.chunks(chunked(file, [10_000]))), filename: "a"))
        return try form.body()
    }

    private static func gzipBody(_ path: String, _ length: Gzip.Length = .unknown) throws -> MultipartBody {
        let part = Part(disposition: nil, mediaType: nil, file: FileSource(path: path))
        return try OnePart.body(part.gzip(level: 1, workers: 3, length: length, blockSize: 32 << 10))
    }

    private func interrupted(_ body: MultipartBody) async throws -> [UInt8] {
        let interrupt = ReadInterrupt()
        return try await withTaskCancellationHandler {
            try await onThread { try body.bytes(bufferSize: 3000, interrupt: interrupt) }
        } onCancel: {
            interrupt.trigger()
        }
    }

    private func reader<Chunks: AsyncSequence>(of chunks: Chunks) throws -> MultipartReader<Chunks>
    where Chunks.Element == [UInt8] {
        try MultipartReader(
            chunks,
            contentType: "multipart/form-data; boundary=b",
            limits: ParserLimits(fileBytes: 1 << 20, totalBytes: 1 << 20)
        )
    }
}
