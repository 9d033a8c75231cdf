internal import Foundation
internal import Sluice
internal import SluiceCurl
internal import SluiceFoundation
internal import SluiceTestSupport

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// What is done again and again: uploads and downloads of random files in random ways, some of them cancelled.
struct Work: Sendable {
    /// A way in which a file goes to a server or comes from one.
    enum Way: String, CaseIterable {
        case curlToAiohttp, curlGzipToNginx, curlStreamToAiohttp, curlToNginx, curlToReceiver, curlToFaults
        case curlFromNginx, curlChunksFromAiohttp, curlFileFromFaults
        case sessionToAiohttp, sessionFromAiohttp, sessionFileFromNginx
        case toolToReceiver, toolToFaults, toolFromFaults
    }

    let tally = Tally()
    private let peers: Peers

    /// How many are under way at a time.
    private static let lanes = 6

    private let ways: [Way]

    /// Makes work of the ways whose names begin with the prefix.
    init(_ peers: Peers, _ prefix: String) {
        self.peers = peers
        ways = Way.allCases.filter { $0.rawValue.hasPrefix(prefix) }
    }

    /// Works for a time, with clients that are there for this long.
    func round(for duration: Duration, _ random: inout SeededGenerator) async throws {
        let deadline = SuspendingClock.now + duration
        let client = CurlClient()
        let session = URLSession(configuration: .ephemeral)
        await withTaskGroup { group in
            for _ in 0..<Self.lanes {
                let seed = random.next()
                group.addTask {
                    var random = SeededGenerator(seed: seed)
                    while SuspendingClock.now < deadline, !tally.hasFailed { await step(client, session, &random) }
                }
            }
        }
        session.finishTasksAndInvalidate()
        await client.close()
    }

    private func step(_ client: CurlClient, _ session: URLSession, _ random: inout SeededGenerator) async {
        guard let way = ways.randomElement(using: &random), let file = peers.files.randomElement(using: &random) else {
            return
        }
        let seed = random.next()
        let task = Task { () async throws in
            var random = SeededGenerator(seed: seed)
            try await go(way, file, client, session, &random)
        }
        let isCancelled = Int.random(in: 0..<5, using: &random) == 0
        if isCancelled {
            try? await Task.sleep(for: .microseconds(Int.random(in: 0...40_000, using: &random)))
            task.cancel()
        }
        do {
            try await task.value
            tally.count(way.rawValue, isDone: true, bytes: file.content.count)
        } catch  where isCancelled && Self.isCancellation(error) {
            tally.count(way.rawValue, isDone: false, bytes: 0)
        } catch {
            tally.fail("\(way) of \(file.name), seed \(seed): \(error)")
        }
    }

    private static func isCancellation(_ error: any Error) -> Bool {
        switch error {
        case let error as TransferError: error.code == .cancelled
        case let error as SessionError: error.code == .cancelled
        case let error as MultipartError: error.code == .cancelled
        default: error is CancellationError
        }
    }

    private func go(
        _ way: Way,
        _ file: Peers.File,
        _ client: CurlClient,
        _ session: URLSession,
        _ random: inout SeededGenerator
    ) async throws {
        switch way {
        case .curlToAiohttp:
            try await expectParts(of: file, client.upload(form(file), to: peers.aiohttp.url("/upload")).body)
        case .curlGzipToNginx:
            let part = Part.file("file", path: file.path).gzip(level: 1, mode: .file, workers: 2, blockSize: 64 << 10)
            let body = try MultipartForm(boundary: Boundary("soak")) { part }.body()
            let response = try await client.upload(body, to: peers.nginx.url("/upload"))
            let stored = try storedByNginx(response.body)
            let head = stored.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound ?? 0
            let member = Array(stored[head...].dropLast("\r\n--soak--\r\n".utf8.count))
            let content = try await Gunzip.decompress([member]).first ?? nil
            try expect(content == file.content, "gzip(1) makes something else of what nginx stored")
        case .curlStreamToAiohttp:
            let chunks = AsyncStream { continuation in
                for chunk in chunked(file.content, [100_000]) { continuation.yield(chunk) }
                continuation.finish()
            }
            let part = Part.file("file", AsyncSource(chunks), filename: file.name)
            let body = try MultipartForm { part }.body()
            try await expectParts(of: file, client.upload(body, to: peers.aiohttp.url("/upload")).body)
        case .curlToNginx:
            let stored = try await storedByNginx(client.upload(form(file), to: peers.nginx.url("/upload")).body)
            try expect(stored == file.body, "nginx stored something else")
        case .curlToReceiver:
            try await expectReceived(file, client.upload(form(file), to: peers.receiver).body)
        case .curlToFaults:
            var request = CurlRequest(url: faulty("/upload", file.body.count, &random))
            request.retry = Self.retries
            let answer = try await Answer(client.upload(form(file), request).body)
            try expect(answer.sha256 == file.bodySHA256, "another body arrived: \(answer)")
        case .curlFromNginx:
            var request = CurlRequest(url: peers.nginx.url("/store/\(file.name)"))
            request.responseBodyLimit = 100 << 20
            try expect(try await Array(client.download(request).body) == file.content, "another content came")
        case .curlChunksFromAiohttp:
            let response = try await client.downloadChunks(CurlRequest(url: peers.aiohttp.url("/files/\(file.name)")))
            var bytes: [UInt8] = []
            for try await chunk in response.chunks { bytes += chunk }
            try expect(bytes == file.content, "another content came")
        case .curlFileFromFaults:
            var request = CurlRequest(url: faulty("/files/\(file.name)", file.content.count, &random))
            request.retry = Self.retries
            var options = FileDownloadOptions()
            options.resumes = false
            options.sha256 = file.sha256
            let path = newPath()
            defer { try? Files.remove(path) }
            _ = try await client.download(request, toFile: path, options: options)
            try expect(try TemporaryDirectory.contents(ofFile: path) == file.content, "another file came")
        case .sessionToAiohttp:
            let request = try request(peers.aiohttp.url("/upload"))
            try await expectParts(of: file, session.upload(form(file), for: request).body)
        case .sessionFromAiohttp:
            let request = try request(peers.aiohttp.url("/files/\(file.name)"))
            let body = try await session.collect(request, upTo: 100 << 20).body
            try expect(Array(body) == file.content, "another content came")
        case .sessionFileFromNginx:
            let path = newPath()
            defer { try? Files.remove(path) }
            let request = try request(peers.nginx.url("/store/\(file.name)"))
            for try await _ in session.download(for: request, to: URL(filePath: path)) {}
            // A stream that is cancelled ends without an error.
            try Task.checkCancellation()
            try expect(try TemporaryDirectory.contents(ofFile: path) == file.content, "another file came")
        case .toolToReceiver:
            let output = try await tool(["upload", "-F", "file=@\(file.path)", peers.receiver])
            try expectReceived(file, Array(output.utf8))
        case .toolToFaults:
            let url = faulty("/upload", file.body.count, &random)
            let output = try await tool(
                ["upload", "--boundary", "soak", "--retry-any-method"] + Self.toolRetries
                    + ["-F", "file=@\(file.path)", url]
            )
            let answer = try Answer(Array(output.utf8))
            try expect(answer.sha256 == file.bodySHA256, "another body arrived: \(output)")
        case .toolFromFaults:
            let path = newPath()
            defer { try? Files.remove(path) }
            let url = faulty("/files/\(file.name)", file.content.count, &random)
            _ = try await tool(["download"] + Self.toolRetries + ["-o", path, url])
            try expect(try TemporaryDirectory.contents(ofFile: path) == file.content, "another file came")
        }
    }

    // MARK: Requests

    private static let retries = {
        var policy = RetryPolicy(maximumAttempts: 4)
        policy.baseDelay = .milliseconds(1)
        policy.maximumDelay = .milliseconds(5)
        policy.repeatsAnyMethod = true
        return policy
    }()

    /// As ``retries``, in one word for each option.
    private static let toolRetries = ["--retry=3", "--retry-delay=0"]

    private func form(_ file: Peers.File) throws -> MultipartBody {
        try MultipartForm(boundary: Boundary("soak")) { Part.file("file", path: file.path) }.body()
    }

    private func request(_ url: String) throws -> URLRequest {
        guard let url = URL(string: url) else { throw Finding("\(url) is no URL") }
        return URLRequest(url: url)
    }

    /// A URL of the server that goes wrong, up to twice in a row.
    private func faulty(_ path: String, _ count: Int, _ random: inout SeededGenerator) -> String {
        let place = Int.random(in: 0...max(count, 1), using: &random)
        let kinds = ["reset@\(place)", "close@\(place)", "drop", "503/0"]
        let faults = (0..<Int.random(in: 0...2, using: &random)).map { _ in
            kinds.randomElement(using: &random) ?? "drop"
        }
        return peers.faults.url("\(path)?key=k\(random.next())&faults=\(faults.joined(separator: ","))")
    }

    private func newPath() -> String { "\(peers.downloads.path)/\(UUID().uuidString)" }

    /// Runs the tool, which is not cancelled, and gives what it prints in one line.
    private func tool(_ arguments: [String]) async throws -> String {
        let script = "\"$0\" \"$@\" 2>/dev/null | tr -d '\\n'"
        return try await onThread {
            try ChildProcess(["/bin/sh", "-c", script, peers.tool] + arguments).readLine() ?? ""
        }
    }

    // MARK: Answers

    /// What the servers say of what they received.
    private struct Answer: Decodable {
        let size: Int?
        let sha256: String?
        /// Of a part: where it was stored; of nginx: the body.
        let path: String?
        let file: String?
        let parts: [Answer]?

        init(_ body: [UInt8]) throws {
            self = try JSONDecoder().decode(Answer.self, from: Data(body))
        }
    }

    private func expect(_ condition: Bool, _ words: @autoclosure () -> String) throws {
        if !condition { throw Finding(words()) }
    }

    private func expectParts(of file: Peers.File, _ body: some Sequence<UInt8>) throws {
        let answer = try Answer(Array(body))
        try expect(answer.parts?.map(\.sha256) == [file.sha256], "another part arrived: \(answer)")
    }

    private func storedByNginx(_ body: some Sequence<UInt8>) throws -> [UInt8] {
        guard let path = try Answer(Array(body)).file, !path.isEmpty else { throw Finding("nginx stored nothing") }
        defer { try? Files.remove(path) }
        return try TemporaryDirectory.contents(ofFile: path)
    }

    private func expectReceived(_ file: Peers.File, _ body: some Sequence<UInt8>) throws {
        let bytes = Array(body)
        guard let part = try? JSONDecoder().decode([Answer].self, from: Data(bytes)).first, let path = part.path else {
            throw Finding("the receiver answered \(String(decoding: bytes, as: UTF8.self))")
        }
        try expect(part.sha256 == file.sha256, "another file arrived: \(part)")
        try expect(try peers.take(path) == file.content, "another file was stored")
    }
}
