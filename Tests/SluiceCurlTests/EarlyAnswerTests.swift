import Sluice
import SluiceCurl
import SluiceTestSupport
import Testing

/// Servers that do not read all of the body.
@Suite struct EarlyAnswerTests {
    private let client = CurlClient()
    private let directory: TemporaryDirectory
    /// 64 MiB, which no socket's buffer holds.
    private let body: MultipartBody

    init() throws {
        directory = try TemporaryDirectory()
        let path = try directory.sparseFile("zeros", size: 64 << 20)
        body = try MultipartForm { Part.file("data", path: path) }.body()
    }

    @Test(arguments: [1.0, 0], [CurlRequest.ExpectContinue.automatic, .never])
    func `A refusal before the body is the response, however the server closes`(
        linger: Double,
        rule: CurlRequest.ExpectContinue
    ) async throws {
        let server = try await ServerProcess.started("raw_server.py", "--mode", "413-early", "--linger", "\(linger)")
        var request = CurlRequest(url: server.url("/"))
        request.expectContinue = rule
        // The close and the answer race each other.
        for _ in 0..<(linger == 0 ? 50 : 1) {
            let response = try await client.upload(body, request)
            #expect(response.status == 413)
            #expect(response.reason == "Content Too Large")
            #expect(response.header("content-type") == "text/plain")
            #expect(String(decoding: response.body, as: UTF8.self) == "too large\n")
            #expect(!response.sentCompletely)
            #expect(response.sentBytes < 64 << 20)
            if rule == .automatic { #expect(response.sentBytes == 0) }
        }
    }

    @Test(arguments: ["http", "https"], [CurlRequest.ExpectContinue.automatic, .never])
    func `nginx's refusal of a large body is the response`(
        scheme: String,
        rule: CurlRequest.ExpectContinue
    ) async throws {
        let nginx = try await Fixtures.nginx
        var request = try await Fixtures.secureRequest(
            url: scheme == "http" ? nginx.url("/small") : nginx.secureURL("/small")
        )
        request.expectContinue = rule
        let response = try await client.upload(body, request)
        #expect(response.status == 413)
        #expect(response.httpVersion == (scheme == "http" ? "HTTP/1.1" : "HTTP/2"))
        #expect(!response.sentCompletely)
        #expect(String(decoding: response.body, as: UTF8.self).contains("413 Request Entity Too Large"))
    }

    @Test func `An error status before the body is the response`() async throws {
        let url = try await Fixtures.server.url("/status/503?body=later&retry-after=7")
        let response = try await client.upload(body, to: url)
        #expect(response.status == 503)
        #expect(response.header("Retry-After") == "7")
        #expect(String(decoding: response.body, as: UTF8.self) == "later")
        #expect(!response.sentCompletely)
    }

    @Test(arguments: ["close-early", "reset-early"])
    func `A connection that ends without an answer is lost`(mode: String) async throws {
        let server = try await ServerProcess.started("raw_server.py", "--mode", mode, "--after", "1000000")
        let error = try #require(await failure { try await client.upload(body, to: server.url("/")) })
        #expect(error.code == .connectionLost)
        #expect(error.sentBytes > 0)
        #expect(error.curlCode != nil)
        #expect(error.url == server.url("/"))
    }

    @Test func `A body that can be read once is lost with its connection`() async throws {
        let server = try await ServerProcess.started("raw_server.py", "--mode", "reset-early", "--after", "1000")
        let body = try Fixtures.onceForm(5_000_000, knownLength: false)
        let error = try #require(await failure { try await client.upload(body, to: server.url("/")) })
        #expect(error.code == .connectionLost)
    }

    // MARK: Responses

    @Test func `A response up to the limit is taken and a longer one refused`() async throws {
        var request = try await CurlRequest(url: Fixtures.server.url("/big-response?bytes=100000"))
        request.responseBodyLimit = 100_000
        let response = try await client.upload(Fixtures.form(), request)
        #expect(response.body == (0..<100_000).map { UInt8(truncatingIfNeeded: $0) })

        request.responseBodyLimit = 99_999
        let error = try #require(await failure { try await client.upload(Fixtures.form(), request) })
        #expect(error.code == .responseTooLarge)
        #expect(error.description.contains("200") && error.description.contains("99999"))
    }

    @Test(arguments: ["/redirect/307?to=/upload&drain=1", "/basic?drain=1"])
    func `Responses on the way do not count`(path: String) async throws {
        var request = try await CurlRequest(url: Fixtures.server.url(path))
        request.authentication = .any(user: "user", password: "pass")
        request.responseBodyLimit = 2000
        let response = try await client.upload(Fixtures.form(), request)
        try Account(response).expectForm()
        #expect(response.body.starts(with: Array("{\"method\"".utf8)))
        #expect(response.headers.filter { $0.name == "Content-Length" }.count == 1)
    }
}
