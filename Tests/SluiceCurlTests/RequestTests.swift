import Sluice
import SluiceCurl
import SluiceTestSupport
import Testing

/// What is refused before a connection is made, and what is kept secret.
@Suite struct RequestTests {
    private let client = CurlClient()

    /// The error of a request that must not get as far as connecting.
    private func refusal(_ change: (inout CurlRequest) throws -> Void) async throws -> TransferError? {
        var request = CurlRequest(url: "http://127.0.0.1:1/")
        try change(&request)
        let body = try Fixtures.form()
        return await failure { try await client.upload(body, request) }
    }

    @Test(arguments: [
        ("X-A", "b\r\nX-Injected: c"), ("X-A", "b\nc"), ("X-A", "b\rc"), ("X-A", "b\u{0}c"), ("X A", "b"),
        ("X-A:", "b"),
        ("", "b"), ("X-Ä", "b"), ("X-A\r\n", "b"), ("Content-Length", "5"), ("content-length", "5"),
        ("Transfer-Encoding", "chunked"), ("TRANSFER-ENCODING", "identity"),
    ])
    func `Nothing can be injected through a header field`(name: String, value: String) throws {
        var request = CurlRequest(url: "http://127.0.0.1/")
        #expect { try request.addHeader(name, value) } throws: { ($0 as? TransferError)?.code == .invalidRequest }
        #expect(request.headers.isEmpty)
    }

    @Test(arguments: [
        "", "127.0.0.1", "/upload", "ftp://127.0.0.1/", "file:///etc/passwd", "http://", "http://a b/",
        "http://127.0.0.1:1/\r\nX-Injected: c", "http://127.0.0.1:1/\u{0}", "http://127.0.0.1:99999/", "scheme://x/",
    ])
    func `A URL that is none, or neither http nor https, is refused`(url: String) async throws {
        #expect(try await refusal { $0.url = url }?.code == .invalidRequest)
    }

    @Test(arguments: [
        "", "PO ST", "POST\r\n", "GET /x HTTP/1.1\r\nHost: x\r\n\r\n", "HEAD", "head", "CONNECT", "TRACE",
    ])
    func `A method that is no token, or has no body, is refused`(method: String) async throws {
        #expect(try await refusal { $0.method = method }?.code == .invalidRequest)
    }

    @Test(arguments: [
        CurlRequest.Authentication.basic(user: "a:b", password: "c"), .basic(user: "a\r\nb", password: "c"),
        .digest(user: "a", password: "b\r\nX-Injected: c"), .any(user: "a\u{0}", password: "c"), .bearer("a b"),
        .bearer(""),
        .bearer("a\r\nX-Injected: c"),
    ])
    func `Credentials that cannot be sent are refused`(authentication: CurlRequest.Authentication) async throws {
        #expect(try await refusal { $0.authentication = authentication }?.code == .invalidRequest)
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
    func `Times that are none are refused`(limit: Duration) async throws {
        #expect(try await refusal { $0.connectTimeout = limit }?.code == .invalidRequest)
        #expect(try await refusal { $0.totalTimeout = limit }?.code == .invalidRequest)
        #expect(try await refusal { $0.idleTimeout = limit }?.code == .invalidRequest)
    }

    @Test(arguments: [Duration.nanoseconds(1), .seconds(Int64.max), nil])
    func `Times without measure are no reason to trap`(limit: Duration?) async throws {
        let error = try await refusal { request in
            request.connectTimeout = limit
            request.totalTimeout = limit
            request.idleTimeout = limit
        }
        #expect([.couldNotConnect, .timeout].contains(error?.code))
    }

    @Test func `Other options without sense are refused or cut`() async throws {
        #expect(try await refusal { $0.responseBodyLimit = -1 }?.code == .invalidRequest)
        #expect(try await refusal { $0.redirects = .follow(limit: -1) }?.code == .invalidRequest)
        #expect(try await refusal { $0.tls.caFile = "a\u{0}b" }?.code == .invalidRequest)
        #expect(try await refusal { $0.uploadBufferSize = -1 }?.code == .couldNotConnect)
        #expect(try await refusal { $0.uploadBufferSize = .max }?.code == .couldNotConnect)
        var configuration = CurlClient.Configuration()
        configuration.userAgent = "a\r\nX-Injected: b"
        let injecting = CurlClient(configuration)
        #expect(
            await failure { try await injecting.upload(Fixtures.form(), to: "http://127.0.0.1:1/") }?.code
                == .invalidRequest
        )
    }

    // MARK: Secrets

    @Test func `Errors and descriptions have no credentials in them`() async throws {
        for url in [
            "http://user:s3cret@127.0.0.1:1/", "ftp://user:s3cret@127.0.0.1/", "http://user:s3cret@127.0.0.1:99999/",
            "http://user:p@s3cret@127.0.0.1:1/", "http://user:s3cret@127.0.0.1:1/ \r\n",
            "user:s3cret@127.0.0.1/", "http:/user:s3cret@127.0.0.1/", "http:///user:s3cret@127.0.0.1:1/",
            "http://user:a/s3cret@127.0.0.1:1/", "http://user:a s3cret@127.0.0.1:1/", "//user:s3cret@127.0.0.1:1/",
        ] {
            let error = try #require(try await refusal { $0.url = url })
            #expect(!"\(error) \(error.url) \(error.reason)".contains("s3cret"))
            #expect(!"\(CurlRequest(url: url))".contains("s3cret"))
        }
        var request = CurlRequest(url: "http://127.0.0.1:1/")
        request.authentication = .basic(user: "user", password: "s3cret")
        try request.addHeader("Authorization", "s3cret")
        var dumped = ""
        dump(request.authentication, to: &dumped)
        #expect(
            !"\(request) \(String(reflecting: request)) \(String(describing: request.authentication)) \(dumped)"
                .contains("s3cret")
        )
    }

    @Test func `A redirect's credentials are told nobody, and not used`() async throws {
        let server = try await Fixtures.server
        let lines = Lines()
        var request = CurlRequest(
            url: server.url("/redirect/307?drain=1&to=http://user:s3cret@127.0.0.1:\(server.http)/echo-headers")
        )
        request.debug = { lines.add($0) }
        let response = try await client.upload(Fixtures.form(), request)
        #expect(response.url == server.url("/echo-headers"))
        #expect(try Account(response).values("authorization") == [])
        #expect(lines.texts(.responseHeader).contains { $0.hasPrefix("Location: http://127.0.0.1") })
    }

    @Test(arguments: ["http", "https"])
    func `Debug lines tell what goes on, without secrets and bodies`(scheme: String) async throws {
        let nginx = try await Fixtures.nginx
        let lines = Lines()
        let url = scheme == "http" ? nginx.url("/upload") : nginx.secureURL("/upload")
        var request = try await Fixtures.secureRequest(url: url)
        request.debug = { lines.add($0) }
        request.authentication = .basic(user: "user", password: "s3cret")
        try request.addHeader("Cookie", "session=s3cret")
        try request.addHeader("Proxy-Authorization", "s3cret")
        try request.addHeader("X-Plain", "shown")
        let body = try MultipartForm { Part.field("field", "body s3cret") }.body()
        #expect(try await client.upload(body, request).status == 200)

        let texts = lines.texts()
        #expect(!texts.contains { $0.contains("s3cret") })
        // Base64 of user:s3cret.
        #expect(!texts.contains { $0.contains("dXNlcjpzM2NyZXQ=") })
        #expect(!texts.contains { $0.contains("form-data; name") })
        #expect(texts.allSatisfy { !$0.contains { $0.isNewline } && !$0.isEmpty })
        let sent = lines.texts(.requestHeader).map { $0.lowercased() }
        #expect(sent.first == (scheme == "http" ? "post /upload http/1.1" : "post /upload http/2"))
        #expect(sent.contains("authorization: <redacted>"))
        #expect(sent.contains("cookie: <redacted>"))
        #expect(sent.contains("proxy-authorization: <redacted>"))
        #expect(sent.contains("x-plain: shown"))
        #expect(lines.texts(.responseHeader).first?.hasPrefix(scheme == "http" ? "HTTP/1.1 200" : "HTTP/2 200") == true)
        #expect(lines.texts(.info).contains { $0.hasPrefix("Connected to 127.0.0.1") })
    }
}
