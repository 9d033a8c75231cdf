import Sluice
import SluiceCurl
import SluiceTestSupport
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Many transfers, at a time and one after the other.
@Suite(.serialized, .timeLimit(.minutes(3))) struct LoadTests {
    @Test func `Five hundred uploads run at the same time in one process, on one thread`() async throws {
        let server = try await ServerProcess.started("upload_server.py")
        let directory = try TemporaryDirectory()
        let path = try directory.file("content", TemporaryDirectory.noise(100_000))
        await #expect(processExitsWith: .success) {
            [url = server.url("/gather/500") as String, path = path as String] in
            var limit = rlimit()
            unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            limit.rlim_cur = min(limit.rlim_max, 4096)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let client = CurlClient()
            let body = try MultipartForm { Part.file("file", path: path) }.body()
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<500 { group.addTask { try await client.upload(body, to: url).status } }
                var statuses: [Int] = []
                while let status = try await group.next() { statuses.append(status) }
                return statuses
            }
            // The server answers none before all are there.
            #expect(statuses == Array(repeating: 200, count: 500))
            #expect(ProcessState.threadNames().filter { $0.hasPrefix("sluice-") } == ["sluice-curl"])
            await client.close()
        }
    }

    @Test func `Five hundred uploads of async sequences wait on no thread`() async throws {
        let server = try await ServerProcess.started("upload_server.py")
        let directory = try TemporaryDirectory()
        let path = try directory.file("content", TemporaryDirectory.noise(1000))
        await #expect(processExitsWith: .success) {
            [url = server.url("/gather/500") as String, path = path as String] in
            var limit = rlimit()
            unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            limit.rlim_cur = min(limit.rlim_max, 4096)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let client = CurlClient()
            let (closed, opener) = AsyncStream.makeStream(of: Void.self)
            let gate = Task { for await _ in closed {} }
            let waiting = Counter()
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<500 {
                    let chunks = GatedChunks(gate: gate) { waiting.increment() }
                    let body = try MultipartForm {
                        Part.file("file", path: path)
                        Part.file("async", AsyncSource(chunks), filename: "a")
                    }.body()
                    group.addTask { try await client.upload(body, to: url).status }
                }
                // All have sent the first chunk and wait for the second.
                let areWaiting = await ProcessState.settles(within: 60) { waiting.value == 500 }
                #expect(areWaiting, "\(waiting.value)")
                let names = ProcessState.threadNames().filter { $0.hasPrefix("sluice-") }
                #expect(names == ["sluice-curl"], "\(names.count)")
                opener.finish()
                while let status = try await group.next() { #expect(status == 200) }
            }
            await client.close()
        }
    }

    @Test func `A thousand uploads one after the other take no more than a hundred`() async throws {
        let server = try await ServerProcess.started("upload_server.py")
        let directory = try TemporaryDirectory()
        let path = try directory.file("content", TemporaryDirectory.noise(100_000))
        await #expect(processExitsWith: .success) {
            [url = server.url("/discard") as String, path = path as String] in
            let client = CurlClient()
            let lines = Lines()
            var request = CurlRequest(url: url)
            func upload(_ count: Int) async throws {
                for index in 0..<count {
                    let body = try MultipartForm {
                        Part.file("file", path: path)
                        // Every tenth is read by a thread of its own.
                        if index % 10 == 0 {
                            Part.file("generated", Fixtures.generator(3), filename: "g")
                        }
                    }.body()
                    let response = try await client.upload(body, request)
                    #expect(response.status == 200)
                }
            }
            try await upload(100)
            // The threads of the last ones end by themselves.
            _ = await ProcessState.settles { !ProcessState.threadNames().contains("sluice-read") }
            let before = Holdings()
            request.debug = { if $0.text.hasPrefix("Connected to") { lines.add($0) } }
            try await upload(900)
            let settled = await ProcessState.settles(within: 30) { Holdings().threads <= before.threads }
            #expect(settled, "\(before) \(Holdings())")
            let after = Holdings()
            #expect(after.descriptors <= before.descriptors, "\(before) \(after)")
            #expect(after.kilobytes <= before.kilobytes + 2048, "\(before) \(after)")
            // All on the connection that was there.
            #expect(lines.texts().isEmpty, "\(lines.texts())")
            await client.close()
        }
    }

    @Test func `Downloads one after the other and at a time come whole, and take no more`() async throws {
        let faults = try await Fixtures.faults
        let directory = try TemporaryDirectory()
        await #expect(processExitsWith: .success) {
            [url = faults.place().file() as String, path = directory.path as String] in
            let idle = Holdings()
            let client = CurlClient()
            func download(_ count: Int) async throws {
                for _ in 0..<count {
                    try await withThrowingTaskGroup { group in
                        for index in 0..<20 {
                            group.addTask {
                                let file = try await client.download(CurlRequest(url: url), toFile: "\(path)/\(index)")
                                #expect(file.byteCount == 1_000_003)
                            }
                        }
                        try await group.waitForAll()
                    }
                }
            }
            try await download(10)
            let before = Holdings()
            var after = before
            // How much memory the allocator has had in use at a time is chance, and settles. What leaks grows each time.
            var quietRounds = 0
            for _ in 0..<20 where quietRounds < 2 {
                let kilobytes = after.kilobytes
                try await download(10)
                let settled = await ProcessState.settles(within: 30) { Holdings().threads <= before.threads }
                #expect(settled, "\(before) \(Holdings())")
                after = Holdings()
                quietRounds = after.kilobytes <= kilobytes + 1024 ? quietRounds + 1 : 0
            }
            #expect(quietRounds == 2, "\(before) \(after)")
            #expect(after.descriptors - after.sockets <= before.descriptors - before.sockets, "\(before) \(after)")
            // A connection a transfer of a round, and libcurl's own pair that wakes it. How many of those the first
            // rounds had needed is chance: one that ends early leaves its connection to the next.
            #expect(after.sockets <= idle.sockets + 20 + 2, "\(idle) \(after)")
            await client.close()
        }
        for index in 0..<20 {
            let bytes = try TemporaryDirectory.contents(ofFile: "\(directory.path)/\(index)")
            #expect(difference(bytes, faults.content) == nil)
        }
    }

    // MARK: Closing

    @Test func `A client can be closed behind the transfers that run`() async throws {
        let client = CurlClient()
        let url = try await Fixtures.server.url("/slow-response?seconds=1")
        let body = try Fixtures.form()
        let uploads = (0..<5).map { _ in Task { try await client.upload(body, to: url).status } }
        try await Task.sleep(for: .milliseconds(300))
        await client.close(finishingTransfers: true)
        for upload in uploads { #expect(try await upload.value == 200) }
        #expect(await failure { try await client.upload(body, to: url) }?.code == .clientClosed)
    }

    @Test func `Whoever closes behind the transfers can lose patience`() async throws {
        let client = CurlClient()
        let url = try await Fixtures.server.url("/slow-response?seconds=60")
        let body = try Fixtures.form()
        let upload = Task { await failure { try await client.upload(body, to: url) } }
        try await Task.sleep(for: .milliseconds(200))
        let closing = Task { await client.close(finishingTransfers: true) }
        try await Task.sleep(for: .milliseconds(200))
        closing.cancel()
        await closing.value
        #expect(await upload.value?.code == .clientClosed)
    }

    // MARK: libcurl's own failures

    #if os(Linux)
    @Test func `A client goes on when libcurl has failed`() async throws {
        let stalled = try await ServerProcess.started("raw_server.py", "--mode", "stall")
        let good = try await Fixtures.server
        await #expect(processExitsWith: .success) {
            [stalled = stalled.url("/") as String, good = good.url("/upload") as String] in
            let client = CurlClient()
            let body = try MultipartForm { Part.field("a", "b") }.body()
            let lines = Lines()
            let uploads = (0..<20).map { _ in
                Task {
                    var request = CurlRequest(url: stalled)
                    request.debug = { lines.add($0) }
                    return await failure { try await client.upload(body, request) }
                }
            }
            #expect(await ProcessState.settles { lines.texts().filter { $0.hasPrefix("Host:") }.count == 20 })
            // The runtime opens what it needs itself, and ends the process where it cannot.
            try await Task.sleep(for: .milliseconds(10))
            // Linux polls no more descriptors than may be open.
            var limit = rlimit()
            unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let before = limit.rlim_cur
            limit.rlim_cur = 16
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            uploads[0].cancel()
            for upload in uploads.dropFirst() {
                let error = await upload.value
                #expect(error?.code == .resourcesExhausted, "\(String(describing: error))")
            }
            limit.rlim_cur = before
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            #expect(try await client.upload(body, to: good).status == 200)
            await client.close()
        }
    }
    #endif
}

private final class Counter: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    func increment() { count.add(1, ordering: .relaxed) }
}

/// Two chunks, the second one behind a gate.
private struct GatedChunks: AsyncSequence, Sendable {
    let gate: Task<Void, Never>
    let onWait: @Sendable () -> Void

    struct AsyncIterator: AsyncIteratorProtocol {
        let chunks: GatedChunks
        var asked = 0

        mutating func next() async -> [UInt8]? {
            asked += 1
            switch asked {
            case 1: return [1, 2, 3]
            case 2:
                chunks.onWait()
                await chunks.gate.value
                return [4]
            default: return nil
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunks: self) }
}

/// What this process holds.
private struct Holdings: CustomStringConvertible {
    let descriptors: Int
    let sockets: Int
    /// What is open and no socket.
    let others: [String]
    let threads = ProcessState.threadNames().count
    let kilobytes: Int

    init() {
        let open = ProcessState.openDescriptors()
        descriptors = open.count
        others = open.values.filter { !$0.hasPrefix("socket:") }.sorted()
        sockets = open.count - others.count
        let text = (try? TemporaryDirectory.contents(ofFile: "/proc/self/statm")) ?? []
        let words = String(decoding: text, as: UTF8.self).split(separator: " ")
        kilobytes = (words.count > 1 ? Int(words[1]) ?? 0 : 0) * 4
    }

    var description: String {
        "\(descriptors) descriptors (\(sockets) sockets, \(others)), \(threads) threads, \(kilobytes) KiB"
    }
}
