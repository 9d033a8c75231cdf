import Foundation
import Sluice
import SluiceCurl
import SluiceTestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Every kind of source, and what becomes of those that fail.
@Suite struct SourceTests {
    private let client = CurlClient()
    private let directory: TemporaryDirectory

    private struct Broken: Error {}

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// The digest that `sha256sum` gives.
    private func digest(_ bytes: [UInt8]) throws -> String {
        try ChildProcess.sha256(ofFile: directory.file("digest", bytes))
    }

    @Test(arguments: [1, 1000, 70_000, 700_000])
    func `Chunks of any size fit libcurl's buffer of any size`(chunkSize: Int) async throws {
        let noise = TemporaryDirectory.noise(700_000)
        for bufferSize in [0, 100_000, 4 << 20] {
            var request = try await CurlRequest(url: Fixtures.server.url("/upload"))
            request.uploadBufferSize = bufferSize
            let count = chunkSize == 1 ? 2000 : noise.count
            let source = AsyncSource(ChunkSequence(Array(noise[..<count]), size: chunkSize))
            let body = try MultipartForm { Part.file("data", source, filename: "d") }.body()
            let part = try #require(Account(await client.upload(body, request)).parts?.first)
            #expect(part.size == count)
            #expect(try part.sha256 == digest(Array(noise[..<count])))
        }
    }

    @Test func `A pipe is sent as it is written`() async throws {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        let (input, output) = (ends[0], ends[1])
        let noise = TemporaryDirectory.noise(300_000)
        let body = try MultipartForm {
            Part.file("data", FileSource(descriptor: input, ownership: .owned), filename: "d")
        }.body()
        async let response = client.upload(body, to: Fixtures.server.url("/upload"))
        for start in stride(from: 0, to: noise.count, by: 30_000) {
            try await Task.sleep(for: .milliseconds(5))
            // Which waits while the pipe is full.
            try await onThread { try writeAll(Array(noise[start..<start + 30_000]), to: output) }
        }
        close(output)
        let part = try #require(Account(await response).parts?.first)
        #expect(part.size == 300_000)
        #expect(try part.sha256 == digest(noise))
    }

    @Test func `A source that waits does not hold up another transfer`() async throws {
        let server = try await Fixtures.server
        let slow = AsyncSource(ChunkSequence(Array("slow".utf8), size: 1, pause: .milliseconds(300)))
        let body = try MultipartForm { Part.file("slow", slow, filename: "s") }.body()
        let clock = SuspendingClock()
        let start = clock.now
        async let waiting = client.upload(body, to: server.url("/upload"))
        var count = 0
        while count < 10 {
            try Account(await client.upload(Fixtures.form(100_000), to: server.url("/upload"))).expectForm(100_000)
            count += 1
        }
        let quick = clock.now - start
        #expect(try Account(await waiting).parts?.first?.size == 4)
        // Five pauses; the others took none of them.
        #expect(clock.now - start >= .milliseconds(1500))
        #expect(quick < clock.now - start)
    }

    @Test(arguments: [true, false])
    func `What a source throws is in the error, and which part it was`(isAsync: Bool) async throws {
        let noise = TemporaryDirectory.noise(100_000)
        var given = false
        let generator = GeneratorSource.once { buffer in
            if given { throw Broken() }
            given = true
            unsafe buffer.append(1, as: UInt8.self)
        }
        let body = try MultipartForm {
            Part.field("title", "Holiday")
            if isAsync {
                Part.file("broken", AsyncSource(ChunkSequence(noise, size: 9000, failure: Broken())), filename: "b")
            } else {
                Part.file("broken", generator, filename: "b")
            }
        }.body()
        let error = try #require(await failure { try await client.upload(body, to: Fixtures.server.url("/upload")) })
        #expect(error.code == .bodyFailed)
        #expect(error.bodyError?.code == .sourceFailed)
        #expect(error.bodyError?.underlyingError is Broken)
        #expect(error.bodyError?.part?.name == "broken")
        #expect(error.description.contains("broken"))
    }

    @Test func `A file that is cut while it is sent is never a whole body`() async throws {
        let server = try await ServerProcess.started(
            "raw_server.py",
            "--mode",
            "slow-read",
            "--rate",
            "4000000",
            "--record",
            directory.path
        )
        let path = try directory.file("cut", TemporaryDirectory.noise(8_000_000))
        let body = try MultipartForm { Part.file("film", path: path) }.body()
        var request = CurlRequest(url: server.url("/"))
        request.uploadBufferSize = 64 * 1024
        let error = try #require(
            await failure {
                try await client.upload(body, request) { report in
                    if report.completedBytes > 100_000 { _ = unsafe truncate(path, 200_000) }
                }
            }
        )
        #expect(error.code == .bodyFailed)
        #expect(error.bodyError?.code == .fileShrank)
        #expect(error.bodyError?.part?.name == "film")
        #expect(error.bodyError?.path == path)
        #expect(error.description.contains("film") && error.description.contains(path))
        #expect(await ProcessState.settles { (try? Finished(directory))?.complete == false })
    }

    @Test func `A file that is gone fails before anything is sent`() async throws {
        let path = try directory.file("gone", [1, 2, 3])
        let body = try MultipartForm { Part.file("film", path: path) }.body()
        unsafe unlink(path)
        var request = try await CurlRequest(url: Fixtures.server.url("/upload"))
        request.uploadBufferSize = 1
        let error = try #require(await failure { try await client.upload(body, request) })
        #expect(error.code == .bodyFailed)
        #expect(error.bodyError?.code == .fileChanged)
        #expect(error.bodyError?.path == path)
    }

    @Test func `A source that gives too little fails and does not hang`() async throws {
        let source = AsyncSource(ChunkSequence([1, 2, 3], size: 1), knownLength: 5)
        let body = try MultipartForm { Part.file("short", source, filename: "s") }.body()
        let error = try #require(await failure { try await client.upload(body, to: Fixtures.server.url("/upload")) })
        #expect(error.code == .bodyFailed)
        #expect(error.bodyError?.code == .lengthMismatch)
    }
}

/// What the raw server says when a request is over.
private struct Finished: Decodable {
    let complete: Bool

    init(_ directory: TemporaryDirectory) throws {
        let bytes = try TemporaryDirectory.contents(ofFile: "\(directory.path)/request-1.json")
        self = try JSONDecoder().decode(Finished.self, from: Data(bytes))
    }
}
