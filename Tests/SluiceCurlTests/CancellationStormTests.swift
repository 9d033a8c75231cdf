import Foundation
import Sluice
import SluiceCurl
import SluiceTestSupport
import Testing

#if os(Linux)
/// Transfers that are cancelled at random moments end as what they are or as cancelled, and leave no descriptor, no thread
/// and no file behind; so do clients that are closed under load.
///
/// In processes of their own, since other tests have some as well. `SLUICE_CANCELLATIONS` says how often each is done.
@Suite(.serialized, .timeLimit(.minutes(60))) struct CancellationStormTests {
    enum Use: String, CaseIterable, Codable, Sendable {
        case upload, gzipUpload, asyncUpload, download, chunkDownload, fileDownload
    }

    @Test(arguments: Use.allCases)
    func `Cancelled at any moment, a transfer leaves nothing behind`(use: Use) async throws {
        let count = CancellationStorm.count(ProcessInfo.processInfo.environment, few: 64)
        let seed = UInt64.random(in: .min ... .max)
        let (server, faults) = try await (Fixtures.server, Fixtures.faults)
        let directory = try TemporaryDirectory()
        let result = try directory.file("counts", [])
        await #expect(processExitsWith: .success) {
            [
                use = use as Use, count = count as Int, seed = seed as UInt64, result = result as String,
                upload = server.url("/upload") as String, file = faults.place().file() as String
            ] in
            let bench = try StormBench(use, upload: upload, file: file)
            try await Leaks.expectNone { try await bench.storm(8, seed) }
            try await Leaks.expectNone {
                let counts = try await bench.storm(count, seed &+ 1)
                try Files.append(Array("\(counts); ".utf8), to: result)
            }
            #expect(bench.leftOver() == [], "\(use), seed \(seed)")
        }
        let counts = try TemporaryDirectory.contents(ofFile: result)
        print("\(use): \(String(decoding: counts, as: UTF8.self))seed \(seed)")
    }

    @Test(arguments: seeds(fixed: 0, fresh: 2), [false, true])
    func `A client can be closed at any moment under load`(seed: UInt64, finishes: Bool) async throws {
        // With two dozen transfers each time.
        let rounds = CancellationStorm.count(ProcessInfo.processInfo.environment, few: 80) / 8
        let (server, faults) = try await (Fixtures.server, Fixtures.faults)
        await #expect(processExitsWith: .success) {
            [
                seed = seed as UInt64, finishes = finishes as Bool, rounds = rounds as Int,
                upload = server.url("/upload") as String, file = faults.place().file() as String
            ] in
            let benches = try Use.allCases.map { try StormBench($0, upload: upload, file: file) }
            try await Leaks.expectNone {
                var random = SeededGenerator(seed: seed)
                for _ in 0..<rounds {
                    let client = CurlClient()
                    let delay = Duration.microseconds(Int.random(in: 0...60_000, using: &random))
                    try await withThrowingTaskGroup { group in
                        for number in 0..<24 {
                            group.addTask { _ = try await benches[number % benches.count].run(number, client) }
                        }
                        for _ in 0..<2 {
                            group.addTask {
                                try await Task.sleep(for: delay)
                                await client.close(finishingTransfers: finishes)
                            }
                        }
                        try await group.waitForAll()
                    }
                }
            }
            #expect(benches.flatMap { $0.leftOver() } == [], "seed \(seed)")
        }
    }
}

private struct StormBench {
    private let use: CancellationStormTests.Use
    private let upload: String
    private let file: String
    private let directory: TemporaryDirectory
    private let content = TemporaryDirectory.noise(1_000_003)
    private let source: String

    init(_ use: CancellationStormTests.Use, upload: String, file: String) throws {
        (self.use, self.upload, self.file) = (use, upload, file)
        directory = try TemporaryDirectory()
        source = try directory.file("source", content)
    }

    /// What lies in the directory but for the source and for whole downloads.
    func leftOver() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? ["no directory"]
        return names.filter { (try? TemporaryDirectory.contents(ofFile: "\(directory.path)/\($0)")) != content }
    }

    @discardableResult
    func storm(_ count: Int, _ seed: UInt64) async throws -> CancellationStorm.Counts {
        let client = CurlClient()
        let counts = try await CancellationStorm(count: count, seed: seed).run { try await run($0, client) }
        await client.close()
        return counts
    }

    /// - Returns: Whether it was done; false where it was cancelled, or its client was closed.
    func run(_ number: Int, _ client: CurlClient) async throws -> Bool {
        do {
            switch use {
            case .upload: try await send(.file("data", path: source), client)
            case .gzipUpload:
                try await send(Part.file("data", path: source).gzip(level: 1, workers: 3, blockSize: 64 << 10), client)
            case .asyncUpload:
                let chunks = ChunkSequence(content, size: 50_000)
                try await send(.file("data", AsyncSource(chunks), filename: "d"), client)
            case .download:
                var request = CurlRequest(url: file)
                request.responseBodyLimit = 2_000_000
                let response = try await client.download(request)
                #expect(difference(Array(response.body), content) == nil)
            case .chunkDownload:
                let response = try await client.downloadChunks(CurlRequest(url: file))
                var bytes: [UInt8] = []
                for try await chunk in response.chunks { bytes += chunk }
                #expect(difference(bytes, content) == nil)
            case .fileDownload:
                var options = FileDownloadOptions()
                options.resumes = false
                let path = "\(directory.path)/\(number)"
                let download = try await client.download(CurlRequest(url: file), toFile: path, options: options)
                #expect(download.byteCount == content.count)
            }
            return true
        } catch let error as TransferError where error.code == .cancelled || error.code == .clientClosed {
            return false
        }
    }

    private func send(_ part: Part, _ client: CurlClient) async throws {
        let response = try await client.upload(MultipartForm { part }.body(), CurlRequest(url: upload))
        #expect(response.status == 200)
        let account = try Account(response).parts?.first
        // What is compressed has another length.
        if use != .gzipUpload { #expect(account?.size == content.count) }
    }
}
#endif
