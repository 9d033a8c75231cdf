import Sluice
import SluiceCurl
import SluiceTestSupport
import Testing

@Suite struct TimeoutTests {
    private let client = CurlClient()

    @Test func `A server that stops reading is idle`() async throws {
        let server = try await ServerProcess.started("raw_server.py", "--mode", "stall")
        let directory = try TemporaryDirectory()
        let path = try directory.sparseFile("zeros", size: 64 << 20)
        let body = try MultipartForm { Part.file("data", path: path) }.body()
        var request = CurlRequest(url: server.url("/"))
        request.expectContinue = .never
        request.idleTimeout = .seconds(3)
        let error = try #require(await failure { try await client.upload(body, request) })
        #expect(error.code == .idleTimeout)
        #expect(error.sentBytes > 0 && error.sentBytes < 64 << 20)
    }

    @Test func `A server that does not answer is idle`() async throws {
        var request = try await CurlRequest(url: Fixtures.server.url("/slow-response?seconds=30"))
        request.idleTimeout = .seconds(3)
        let error = try #require(await failure { try await client.upload(Fixtures.form(), request) })
        #expect(error.code == .idleTimeout)
        #expect(error.reason.contains("all was sent"))
    }

    @Test func `A source that gives nothing is idle`() async throws {
        var request = try await CurlRequest(url: Fixtures.server.url("/upload"))
        request.expectContinue = .never
        request.idleTimeout = .seconds(3)
        let slow = AsyncSource(ChunkSequence([1], size: 1, pause: .seconds(30)))
        let body = try MultipartForm { Part.file("slow", slow, filename: "s") }.body()
        let error = try #require(await failure { try await client.upload(body, request) })
        #expect(error.code == .idleTimeout)
        #expect(error.reason.contains("source"))
    }

    @Test func `A transfer that is slow but moves is not idle`() async throws {
        let server = try await ServerProcess.started("raw_server.py", "--mode", "slow-read", "--rate", "8000000")
        var request = CurlRequest(url: server.url("/"))
        request.idleTimeout = .seconds(3)
        let response = try await client.upload(Fixtures.form(32_000_000), request)
        #expect(response.status == 200)
        #expect(response.elapsedSeconds > 3)
    }

    @Test func `A transfer ends when its time is up`() async throws {
        var request = try await CurlRequest(url: Fixtures.server.url("/slow-response?seconds=30"))
        request.totalTimeout = .seconds(0.3)
        let error = try #require(await failure { try await client.upload(Fixtures.form(), request) })
        #expect(error.code == .timeout)
        #expect(error.reason.contains("0.3 seconds"))
    }

    @Test func `Time for the whole counts over redirects`() async throws {
        var request = try await CurlRequest(url: Fixtures.server.url("/redirect/307?to=/slow-response%3Fseconds=30"))
        request.totalTimeout = .seconds(0.3)
        #expect(await failure { try await client.upload(Fixtures.form(), request) }?.code == .timeout)
    }

    @Test func `A port that nobody listens on is refused at once`() async throws {
        let port = try ListeningSocket().port
        let error = try #require(
            await failure { try await client.upload(Fixtures.form(), to: "http://127.0.0.1:\(port)/") }
        )
        #expect(error.code == .couldNotConnect)
        #expect(error.sentBytes == 0)
        #expect(error.url == "http://127.0.0.1:\(port)/")
    }

    @Test func `A host that does not answer is given up`() async throws {
        // Once its queue is full, Linux drops what else would connect.
        let listener = try ListeningSocket()
        let fillers = try (0..<4).map { _ in try listener.connect() }
        var request = CurlRequest(url: "http://127.0.0.1:\(listener.port)/")
        request.connectTimeout = .seconds(0.3)
        request.idleTimeout = .seconds(0.1)
        let error = try #require(await failure { try await client.upload(Fixtures.form(), request) })
        #expect(error.code == .timeout)
        #expect(error.reason.contains("connectTimeout"))
        #expect(error.sentBytes == 0)
        withExtendedLifetime(fillers) {}
    }

    @Test(.timeLimit(.minutes(1)), arguments: ["TLS", "proxy"])
    func `A handshake that stands still is idle`(what: String) async throws {
        // The system accepts for it, and nobody answers.
        let listener = try ListeningSocket(backlog: 10)
        var request = CurlRequest(url: "https://127.0.0.1:\(listener.port)/")
        if what == "proxy" {
            request.url = "https://127.0.0.1:1/"
            request.proxy = .url("http://127.0.0.1:\(listener.port)")
        }
        request.connectTimeout = nil
        request.idleTimeout = .seconds(3)
        let error = try #require(await failure { try await client.upload(Fixtures.form(), request) })
        #expect(error.code == .idleTimeout)
        #expect(error.reason.contains("handshake"))
        #expect(error.sentBytes == 0)
    }

    @Test(arguments: ["stall@0", "stall@300000"])
    func `A download that stands still is idle, and can be tried again`(fault: String) async throws {
        let faults = try await Fixtures.faults
        var request = CurlRequest(url: faults.place(fault).file())
        request.responseBodyLimit = 2_000_000
        request.idleTimeout = .seconds(3)
        #expect(await failure { try await client.download(request) }?.code == .idleTimeout)
        request.url = faults.place(fault).file()
        request.retry = .quick(2)
        let directory = try TemporaryDirectory()
        let file = try await client.download(request, toFile: "\(directory.path)/file")
        #expect(file.response.attempts == 2)
        #expect(try difference(TemporaryDirectory.contents(ofFile: file.path), faults.content) == nil)
    }

    @Test func `A name that has no address does not hold up others`() async throws {
        var request = CurlRequest(url: "http://name.invalid/")
        request.connectTimeout = .seconds(0.5)
        async let lost = failure { try await client.upload(Fixtures.form(), request) }
        for _ in 0..<5 {
            try Account(await client.upload(Fixtures.form(), to: Fixtures.server.url("/upload"))).expectForm()
        }
        let error = try #require(await lost)
        #expect([.couldNotResolve, .timeout].contains(error.code))
        #expect(error.sentBytes == 0)
    }

    @Test(.timeLimit(.minutes(10)))
    func `The time for the whole counts while a file is opened`() async throws {
        let directory = try TemporaryDirectory()
        let target = "\(directory.path)/target"
        let place = try await Fixtures.faults.place()
        // What an earlier download left, of which the checksum takes longer than anybody waits.
        try directory.sparseFile("target.sluice-part", size: 1 << 40)
        let url = try directory.file("url", Array(place.file().utf8))
        let record = try "sluice-partial-1\nurl-sha256 \(ChildProcess.sha256(ofFile: url))\netag \"a\"\n"
        try directory.file("target.sluice-part.info", Array(record.utf8))
        var options = FileDownloadOptions()
        options.sha256 = String(repeating: "0", count: 64)
        var request = CurlRequest(url: place.file())
        request.totalTimeout = .milliseconds(300)
        let error = await failure {
            try await CurlClient().download(request, toFile: target, options: options).response
        }
        #expect(error?.code == .timeout)
        #expect(try await place.requests().isEmpty)
        #expect(try directory.size(of: "\(target).sluice-part") == 1 << 40)
    }
}
