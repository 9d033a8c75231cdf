import Foundation
import Sluice
import SluiceFoundation
import SluiceTestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Redirects and challenges: whether the body goes again, and who gets to see credentials.
@Suite(.timeLimit(.minutes(5))) struct SessionRedirectTests {
    private let scratch: TemporaryDirectory
    private let session = URLSession(configuration: .ephemeral)

    init() throws {
        scratch = try TemporaryDirectory()
    }

    @Test("By 307 and 308 the whole body is sent again, in the same framing", arguments: [307, 308], [true, false])
    func bodyAgain(status: Int, hasKnownLength: Bool) async throws {
        let server = try await SessionServer(in: scratch)
        let body = try (hasKnownLength ? SampleBody.known : .unknown).form(in: scratch).body()
        let request = try server.request("/status/\(status)?Location=/ok")
        let reports = Reports()
        let response = try await session.upload(body, for: request, progress: reports.append)
        #expect(response.status == 200)
        #expect(response.redirectCount == 1)
        #expect(response.method == "POST")
        #expect(response.url == server.process.url("/ok"))
        let (first, second) = try await (server.recording(1), server.recording(2))
        #expect(second.lines.first == "POST /ok HTTP/1.1")
        #expect(second.facts.complete)
        #expect(second.facts.size == first.facts.size)
        // Chunks may be cut at other places.
        if hasKnownLength { #expect(second.body == first.body) }
        try await expectWhole(body, response, in: scratch)
        for field in ["Content-Length", "Transfer-Encoding", "Content-Type"] {
            #expect(second.values(of: field) == first.values(of: field))
        }
        #expect(reports.all.last?.completedBytes == first.facts.size)
        #expect(reports.all.last?.attempt == 2)
    }

    @Test("A redirect that comes before the body was read is followed with the whole body")
    func earlyRedirect() async throws {
        let server = try await SessionServer(in: scratch)
        let (body, bytes) = try MultipartBody.sample(300_000, in: scratch)
        let request = try server.request("/status/307?early=1&Location=/ok&Connection=close")
        #expect(try await session.upload(body, for: request).status == 200)
        // Which of them is which depends on when the first is given up.
        let recordings = try await [server.recording(1), server.recording(2)]
        let last = try #require(recordings.first { $0.lines.first == "POST /ok HTTP/1.1" })
        #expect(last.body == bytes)
    }

    @Test("A POST by 301, 302 or 303 goes on as a GET without the body and what describes it", arguments: 301...303)
    func becomesGet(status: Int) async throws {
        let server = try await SessionServer(in: scratch)
        let (body, _) = try MultipartBody.sample(1000, in: scratch)
        var request = try server.request("/status/\(status)?Location=/ok")
        request.setValue("abc", forHTTPHeaderField: "X-Kept")
        let response = try await session.upload(body, for: request)
        #expect(response.status == 200)
        #expect(response.method == "GET")
        #expect(response.sentBytes == body.contentLength, "to the first URL")
        let second = try await server.recording(2)
        #expect(second.lines.first == "GET /ok HTTP/1.1")
        #expect(second.body.isEmpty)
        for field in ["Content-Length", "Transfer-Encoding", "Content-Type", "Expect"] {
            #expect(second.values(of: field) == [])
        }
        #expect(second.values(of: "X-Kept") == ["abc"])
    }

    @Test("A PUT stays one by 301 and 302, with its body, and becomes a GET by 303", arguments: 301...303)
    func put(status: Int) async throws {
        let server = try await SessionServer(in: scratch)
        let (body, bytes) = try MultipartBody.sample(1000, in: scratch)
        let request = try server.request("/status/\(status)?Location=/ok", method: "PUT")
        let response = try await session.upload(body, for: request)
        #expect(response.method == (status == 303 ? "GET" : "PUT"))
        #expect(try await server.recording(2).body == (status == 303 ? Data() : bytes))
    }

    @Test("A body that can be read once is not sent again, neither empty nor in part: the redirect is the response")
    func onceOnly() async throws {
        let server = try await SessionServer(in: scratch)
        let request = try server.request("/status/307?Location=/ok&body=moved")
        let response = try await session.upload(.onceOnly("abc"), for: request)
        #expect(response.status == 307)
        #expect(response.body == Data("moved".utf8))
        #expect(response.header("Location") == "/ok")
        #expect(server.requestCount == 1)
    }

    @Test("Redirects that are not wanted, and those without a Location, are the response")
    func unwanted() async throws {
        let server = try await SessionServer(in: scratch)
        let (body, _) = try MultipartBody.sample(1000, in: scratch)
        var options = SessionOptions()
        options.redirects = .none
        for status in [301, 307] {
            let request = try server.request("/status/\(status)?Location=/ok")
            #expect(try await session.upload(body, for: request, options: options).status == status)
        }
        for path in ["/status/307", "/status/300?Location=/ok", "/status/304?Location=/ok"] {
            let response = try await session.upload(body, for: server.request(path))
            #expect([300, 304, 307].contains(response.status))
        }
        #expect(server.requestCount == 5)
    }

    @Test("A redirect to itself ends at the limit")
    func limit() async throws {
        let server = try await SessionServer(in: scratch)
        let (body, _) = try MultipartBody.sample(10, in: scratch)
        let request = try server.request("/status/307?Location=/status/307?Location=/ok")
        var options = SessionOptions()
        options.redirects = .follow(limit: 1)
        let error = await failure { [session, options] () async throws(SessionError) in
            try await session.upload(body, for: request, options: options)
        }
        #expect(error?.code == .tooManyRedirects)
        options.redirects = .follow(limit: 2)
        #expect(try await session.upload(body, for: request, options: options).redirectCount == 2)
    }

    @Test("A redirect to another scheme than HTTP is an error")
    func otherScheme() async throws {
        let server = try await SessionServer(in: scratch)
        let (body, _) = try MultipartBody.sample(10, in: scratch)
        let request = try server.request("/status/307?Location=file:///etc/passwd")
        let error = await failure { [session] () async throws(SessionError) in
            try await session.upload(body, for: request)
        }
        #expect(error?.code == .protocolError)
    }

    @Test("Credentials stay with their origin, the configuration's too", arguments: [true, false])
    func credentials(isSameOrigin: Bool) async throws {
        let server = try await SessionServer(in: scratch)
        let other = try await SessionServer(in: scratch)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["Proxy-Authorization": "Basic c2VjcmV0", "X-Token": "kept"]
        let (body, bytes) = try MultipartBody.sample(10, in: scratch)
        let target = (isSameOrigin ? server : other).process.url("/ok")
        var request = try server.request("/status/307?Location=\(target)")
        request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
        request.setValue("a=secret", forHTTPHeaderField: "Cookie")
        _ = try await URLSession(configuration: configuration).upload(body, for: request)

        let first = try await server.recording(1)
        #expect(first.values(of: "Authorization") == ["Bearer secret"])
        let second = try await isSameOrigin ? server.recording(2) : other.recording(1)
        #expect(second.body == bytes)
        #expect(second.values(of: "X-Token") == ["kept"])
        #expect(second.values(of: "Authorization") == (isSameOrigin ? ["Bearer secret"] : []))
        #expect(second.values(of: "Proxy-Authorization") == (isSameOrigin ? ["Basic c2VjcmV0"] : []))
        #expect(second.values(of: "Cookie") == (isSameOrigin ? ["a=secret"] : []))
    }

    // MARK: Challenges

    @Test(
        "A challenge that nothing answers is the response, at once",
        arguments: [
            "/basic", "/status/401", "/status/401?WWW-Authenticate=Bearer", "/status/401?WWW-Authenticate=Basic",
            "/status/401?WWW-Authenticate=Digest%20realm=%22x%22,%20nonce=%22y%22",
            "/status/401?WWW-Authenticate=Basic%20realm=x", "/status/401?WWW-Authenticate=Unheard%20realm=%22x%22",
        ]
    )
    func challenge(path: String) async throws {
        let server = try await SessionServer(in: scratch)
        let (body, _) = try MultipartBody.sample(1000, in: scratch)
        let response = try await session.upload(body, for: server.request(path))
        #expect(response.status == 401)
        #expect(response.sentCompletely)
        #expect(response.body == Data((path == "/basic" ? "who are you\n" : "").utf8))
        #expect(server.requestCount == 1)
    }

    @Test("A credential of the configuration's answers a challenge for Basic, with the whole body")
    func storedCredential() async throws {
        let server = try await SessionServer(in: scratch)
        let configuration = URLSessionConfiguration.ephemeral
        let storage = try #require(configuration.urlCredentialStorage)
        let space = URLProtectionSpace(
            host: "127.0.0.1",
            port: server.process.http,
            protocol: "http",
            realm: "raw",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic
        )
        storage.setDefaultCredential(
            URLCredential(user: "user", password: "pass", persistence: .forSession),
            for: space
        )
        let (body, bytes) = try MultipartBody.sample(100_000, in: scratch)
        let response = try await URLSession(configuration: configuration).upload(body, for: server.request("/basic"))
        #expect(response.status == 200)
        let second = try await server.recording(2)
        #expect(second.values(of: "Authorization") == ["Basic dXNlcjpwYXNz"])
        #expect(second.body == bytes)
        #expect(second.values(of: "Content-Length") == ["\(bytes.count)"])
        #expect(server.requestCount == 2)
    }

    @Test("A user and a password in the URL are sent with the whole body, and shown nowhere")
    func userInfo() async throws {
        let server = try await SessionServer(in: scratch)
        let (body, bytes) = try MultipartBody.sample(1000, in: scratch)
        let response = try await session.upload(body, for: server.request("/ok", host: "user:pass@127.0.0.1"))
        #expect(response.url == server.process.url("/ok"))
        let recording = try await server.recording()
        #expect(recording.values(of: "Authorization") == ["Basic dXNlcjpwYXNz"])
        #expect(recording.body == bytes)
    }

    // MARK: Starting over

    @Test("A connection that the server closes as it is used again has the body sent again, whole")
    func keepAliveRace() async throws {
        let server = try await SessionServer(in: scratch)
        let (body, bytes) = try MultipartBody.sample(1000, in: scratch)
        // A redirect makes the second request on the first one's connection.
        let request = try server.request("/race-redirect?Location=/ok")
        let response = try await session.upload(body, for: request)
        #expect(response.status == 200)
        #expect(response.sentCompletely)
        let last = try await server.recording(server.requestCount)
        #expect(last.lines.first == "POST /ok HTTP/1.1")
        #expect(last.body == bytes)
    }
}
