import Sluice
import SluiceCurl
import SluiceTestSupport
import Testing

@Suite struct CancellationTests {
    /// What a task may be late by that shares its two threads with all other tests.
    ///
    /// A cancellation takes milliseconds; what is cancelled here would take a minute.
    private static let soon = Duration.seconds(40)

    /// Runs an upload, cancels it when it is well under way, and gives its error and how long the end took.
    private func cancelled(_ body: MultipartBody, _ request: CurlRequest) async throws -> (TransferError?, Duration) {
        let client = CurlClient()
        let lines = Lines()
        var request = request
        request.debug = { lines.add($0) }
        let upload = Task { [request] in await failure { try await client.upload(body, request) } }
        #expect(await ProcessState.settles { !lines.texts(.requestHeader).isEmpty })
        try await Task.sleep(for: .milliseconds(200))
        let start = SuspendingClock.now
        upload.cancel()
        let error = await upload.value
        return (error, SuspendingClock.now - start)
    }

    @Test func `Cancelling ends a transfer that a server holds up`() async throws {
        let server = try await ServerProcess.started("raw_server.py", "--mode", "stall")
        let directory = try TemporaryDirectory()
        let path = try directory.sparseFile("zeros", size: 64 << 20)
        let body = try MultipartForm { Part.file("data", path: path) }.body()
        var request = CurlRequest(url: server.url("/"))
        request.expectContinue = .never
        let (error, duration) = try await cancelled(body, request)
        #expect(error?.code == .cancelled)
        #expect((error?.sentBytes ?? 0) > 0)
        #expect(duration < Self.soon)
    }

    @Test func `Cancelling ends a transfer whose source waits`() async throws {
        let source = AsyncSource(ChunkSequence([1], size: 1, pause: .seconds(60)))
        let body = try MultipartForm { Part.file("slow", source, filename: "s") }.body()
        let request = try await CurlRequest(url: Fixtures.server.url("/upload"))
        let (error, duration) = try await cancelled(body, request)
        #expect(error?.code == .cancelled)
        #expect(duration < Self.soon)
    }

    @Test func `Cancelling ends a transfer that waits for the response`() async throws {
        let request = try await CurlRequest(url: Fixtures.server.url("/slow-response?seconds=60"))
        let (error, duration) = try await cancelled(Fixtures.form(), request)
        #expect(error?.code == .cancelled)
        #expect(duration < Self.soon)
    }

    @Test func `A task that is cancelled already sends nothing`() async throws {
        let directory = try TemporaryDirectory()
        let server = try await ServerProcess.started("raw_server.py", "--mode", "record", "--record", directory.path)
        let client = CurlClient()
        let body = try Fixtures.form()
        let upload = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return await failure { try await client.upload(body, to: server.url("/")) }
        }
        let error = await upload.value
        #expect(error?.code == .cancelled)
        #expect(error?.sentBytes == 0)
        await client.close()
        #expect(throws: (any Error).self) { try Recorded(directory) }
    }

    @Test func `Cancelling one transfer leaves the others alone`() async throws {
        let client = CurlClient()
        let server = try await Fixtures.server
        let body = try Fixtures.form()
        let doomed = Task {
            await failure { try await client.upload(body, to: server.url("/slow-response?seconds=60")) }
        }
        async let other = client.upload(body, to: server.url("/slow-response?seconds=1"))
        try await Task.sleep(for: .milliseconds(200))
        doomed.cancel()
        #expect(await doomed.value?.code == .cancelled)
        #expect(try await other.status == 200)
    }

    // MARK: Closing

    @Test func `Closing the client ends its transfers, and it takes no more`() async throws {
        let client = CurlClient()
        let body = try Fixtures.form()
        let url = try await Fixtures.server.url("/slow-response?seconds=60")
        let uploads = (0..<5).map { _ in Task { await failure { try await client.upload(body, to: url) } } }
        try await Task.sleep(for: .milliseconds(200))
        let start = SuspendingClock.now
        await client.close()
        #expect(SuspendingClock.now - start < Self.soon)
        for upload in uploads { #expect(await upload.value?.code == .clientClosed) }
        #expect(await failure { try await client.upload(body, to: url) }?.code == .clientClosed)
        await client.close()
    }

    @Test func `A client that was never used can be closed`() async throws {
        let client = CurlClient()
        await client.close()
        await client.close()
        let body = try Fixtures.form()
        #expect(await failure { try await client.upload(body, to: "http://127.0.0.1:1/") }?.code == .clientClosed)
    }

    @Test func `A client can be closed by many at a time`() async throws {
        for _ in 0..<20 {
            let client = CurlClient()
            let body = try Fixtures.form()
            let url = try await Fixtures.server.url("/upload")
            let upload = Task { try? await client.upload(body, to: url).status }
            await withTaskGroup { group in
                for _ in 0..<4 { group.addTask { await client.close() } }
            }
            #expect([nil, 200].contains(await upload.value))
        }
    }

    #if os(Linux)
    // MARK: What is left

    // In processes of their own: other tests open descriptors and start threads all the time.

    @Test func `Cancelled transfers leave no descriptor and no thread behind`() async throws {
        let stalled = try await ServerProcess.started("raw_server.py", "--mode", "stall")
        let directory = try TemporaryDirectory()
        let path = try directory.sparseFile("zeros", size: 64 << 20)
        await #expect(processExitsWith: .success) { [url = stalled.url("/") as String, path = path as String] in
            try await Leaks.expectNone {
                let client = CurlClient()
                for index in 0..<10 {
                    var request = CurlRequest(url: url)
                    request.expectContinue = .never
                    let waiting = AsyncSource(ChunkSequence([1, 2], size: 1, pause: .seconds(60)))
                    let body = try MultipartForm {
                        if index.isMultiple(of: 2) {
                            Part.file("file", path: path)
                        } else {
                            Part.file("slow", waiting, filename: "s")
                        }
                    }.body()
                    let lines = Lines()
                    request.debug = { lines.add($0) }
                    let upload = Task { [request] in await failure { try await client.upload(body, request) } }
                    #expect(await ProcessState.settles { !lines.texts(.requestHeader).isEmpty })
                    try await Task.sleep(for: .milliseconds(20))
                    let start = SuspendingClock.now
                    upload.cancel()
                    #expect(await upload.value?.code == .cancelled)
                    #expect(SuspendingClock.now - start < .seconds(2))
                    // The file is closed when the upload has thrown, not later.
                    #expect(!ProcessState.openDescriptors().values.contains(path))
                }
                await client.close()
            }
        }
    }

    @Test func `A closed client leaves no descriptor and no thread behind`() async throws {
        let server = try await Fixtures.server
        await #expect(processExitsWith: .success) {
            [http = server.url("/upload") as String, https = server.secureURL("/upload") as String] in
            try await Leaks.expectNone {
                let client = CurlClient()
                for url in [http, https, http, https] {
                    var request = CurlRequest(url: url)
                    request.tls.verification = .disabled
                    let response = try await client.upload(Fixtures.form(300_000), request)
                    #expect(response.status == 200)
                }
                #expect(ProcessState.threadNames().contains("sluice-curl"))
                await client.close()
            }
        }
    }

    @Test func `A client that is released leaves no descriptor and no thread behind`() async throws {
        let server = try await Fixtures.server
        await #expect(processExitsWith: .success) { [url = server.url("/upload") as String] in
            try await Leaks.expectNone {
                for _ in 0..<5 {
                    let response = try await CurlClient().upload(Fixtures.form(), to: url)
                    #expect(response.status == 200)
                }
            }
        }
    }
    #endif
}
