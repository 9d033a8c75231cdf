import Sluice
import SluiceCurl
import SluiceTestSupport
import Testing

@Suite struct RedirectTests {
    private let client = CurlClient()

    /// Whether the server reads the body before it redirects.
    static let drains = ["&drain=1", ""]

    // MARK: The body

    @Test(arguments: [307, 308], drains)
    func `307 and 308 send the body again`(code: Int, drain: String) async throws {
        let server = try await Fixtures.server
        let response = try await client.upload(
            Fixtures.form(300_000),
            to: server.url("/redirect/\(code)?to=/upload\(drain)")
        )
        let account = try Account(response)
        try account.expectForm(300_000)
        #expect(account.method == "POST")
        #expect(response.redirectCount == 1)
        #expect(response.url == server.url("/upload"))
        #expect(response.sentCompletely)
        #expect(response.sentBytes == Int64(try #require(account.contentLength)))
    }

    @Test(arguments: [301, 302, 303], drains)
    func `301, 302 and 303 turn POST into GET without a body`(code: Int, drain: String) async throws {
        let response = try await client.upload(
            Fixtures.form(),
            to: Fixtures.server.url("/redirect/\(code)?to=/echo-headers\(drain)")
        )
        let account = try Account(response)
        #expect(account.method == "GET")
        #expect(account.values("content-type") == [])
        #expect(account.values("content-length") == [])
        #expect(account.values("transfer-encoding") == [])
        #expect(account.values("expect") == [])
        #expect(response.redirectCount == 1)
        #expect(response.sentCompletely)
    }

    @Test(arguments: ["PUT", "PATCH", "DELETE"], [(301, true), (302, true), (303, false), (307, true), (308, true)])
    func `Other methods keep themselves and the body but for 303`(method: String, redirect: (Int, Bool)) async throws {
        let (code, keeps) = redirect
        let url = try await Fixtures.server.url("/redirect/\(code)?to=/upload&drain=1")
        let account = try Account(await client.upload(Fixtures.form(), CurlRequest(method, url: url)))
        #expect(account.method == (keeps ? method : "GET"))
        if keeps { try account.expectForm() } else { #expect(account.parts?.isEmpty == true) }
    }

    @Test func `A body of unknown length is sent again in chunks`() async throws {
        let noise = TemporaryDirectory.noise(1000)
        let body = try MultipartForm {
            Part.field("title", "Holiday")
            Part.file("data", AsyncSource.restartable { ChunkSequence(noise, size: 300) }, filename: "noise.bin")
        }.body()
        for drain in Self.drains {
            let account = try Account(
                await client.upload(body, to: Fixtures.server.url("/redirect/307?to=/upload\(drain)"))
            )
            try account.expectForm()
            #expect(account.transferEncoding == "chunked")
        }
    }

    @Test(arguments: [true, false])
    func `A body that can be read once is not sent twice`(knownLength: Bool) async throws {
        let url = try await Fixtures.server.url("/redirect/308?to=/upload&drain=1")
        let body = try Fixtures.onceForm(knownLength: knownLength)
        let error = try #require(await failure { try await client.upload(body, to: url) })
        #expect(error.code == .bodyNotReplayable)
        #expect(error.description.contains("/upload"))
        #expect(error.sentBytes > 0)
    }

    @Test(arguments: [true, false])
    func `A body that can be read once goes on to where it is redirected before it is read`(
        knownLength: Bool
    ) async throws {
        var request = try await CurlRequest(url: Fixtures.server.url("/redirect/307?to=/upload"))
        request.expectContinue = .always
        try Account(await client.upload(Fixtures.onceForm(knownLength: knownLength), request)).expectForm()
    }

    @Test func `A body that can be read once may be left behind`() async throws {
        let url = try await Fixtures.server.url("/redirect/303?to=/echo-headers&drain=1")
        let response = try await client.upload(Fixtures.onceForm(), to: url)
        #expect(try Account(response).method == "GET")
    }

    // MARK: How often, and where

    @Test func `Redirects are followed as often as is allowed`() async throws {
        let server = try await Fixtures.server
        var request = CurlRequest(url: server.url("/redirect/307?to=/redirect/307%3Fto=/upload"))
        request.redirects = .follow(limit: 2)
        let response = try await client.upload(Fixtures.form(), request)
        #expect(response.redirectCount == 2)
        try Account(response).expectForm()

        request.redirects = .follow(limit: 1)
        let error = try #require(await failure { try await client.upload(Fixtures.form(), request) })
        #expect(error.code == .tooManyRedirects)
        request.redirects = .follow(limit: 0)
        #expect(await failure { try await client.upload(Fixtures.form(), request) }?.code == .tooManyRedirects)
    }

    @Test func `A redirect that is not followed is the response`() async throws {
        var request = try await CurlRequest(url: Fixtures.server.url("/redirect/302?to=/upload&drain=1"))
        request.redirects = .none
        let response = try await client.upload(Fixtures.form(), request)
        #expect(response.status == 302)
        #expect(response.header("location") == "/upload")
        #expect(String(decoding: response.body, as: UTF8.self) == "elsewhere\n")
        #expect(response.redirectCount == 0)
        #expect(response.sentCompletely)
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1:1/"])
    func `Only http and https are followed`(target: String) async throws {
        let url = try await Fixtures.server.url("/redirect/302?to=\(target)")
        let error = try #require(await failure { try await client.upload(Fixtures.form(), to: url) })
        #expect(error.code == .protocolError)
        #expect(error.description.contains(String(target.prefix { $0 != ":" })))
    }

    @Test func `A redirect may go from http to https`() async throws {
        let server = try await Fixtures.server
        let request = try await Fixtures.secureRequest(
            url: server.url("/redirect/307?to=\(server.secureURL("/upload"))")
        )
        let response = try await client.upload(Fixtures.form(), request)
        try Account(response).expectForm()
        #expect(response.url == server.secureURL("/upload"))
    }

    // MARK: Credentials

    @Test(arguments: [
        CurlRequest.Authentication.basic(user: "user", password: "pass"), .bearer("secret"),
    ])
    func `Credentials stay with the origin`(authentication: CurlRequest.Authentication) async throws {
        let directory = try TemporaryDirectory()
        let stranger = try await ServerProcess.started("raw_server.py", "--mode", "record", "--record", directory.path)
        let server = try await Fixtures.server

        var request = CurlRequest(url: server.url("/redirect/307?to=/echo-headers&drain=1"))
        request.authentication = authentication
        try request.addHeader("Cookie", "a=b")
        let own = try Account(await client.upload(Fixtures.form(), request))
        #expect(own.values("authorization").count == 1)
        #expect(own.values("cookie") == ["a=b"])

        // Another port; and another name for the same host.
        request.url = server.url("/redirect/307?to=\(stranger.url("/"))&drain=1")
        #expect(try await client.upload(Fixtures.form(), request).status == 200)
        request.url = server.url("/redirect/307?to=\(server.url("/echo-headers", host: "localhost"))&drain=1")
        let other = try Account(await client.upload(Fixtures.form(), request))
        #expect(other.values("authorization") == [])
        #expect(other.values("cookie") == [])
        let recorded = try Recorded(directory)
        #expect(recorded.values("authorization") == [])
        #expect(recorded.values("cookie") == [])
        #expect(recorded.values("content-type").count == 1)
    }

    @Test(arguments: [
        (CurlRequest.Authentication.digest(user: "user", password: "pass"), "/digest"),
        (.any(user: "user", password: "pass"), "/digest"), (.any(user: "user", password: "pass"), "/basic"),
    ])
    func `Another origin's question is not answered`(
        authentication: CurlRequest.Authentication,
        path: String
    ) async throws {
        let server = try await Fixtures.server
        var request = CurlRequest(url: server.url("/redirect/307?to=\(path)&drain=1"))
        request.authentication = authentication
        #expect(try await client.upload(Fixtures.form(), request).status == 200)
        request.url = server.url("/redirect/307?to=\(server.url(path, host: "localhost"))&drain=1")
        #expect(try await client.upload(Fixtures.form(), request).status == 401)
    }

    @Test func `Credentials in the URL stay with its origin`() async throws {
        let server = try await Fixtures.server
        func url(_ target: String) -> String {
            server.url("/redirect/307?to=\(target)&drain=1")
                .replacing("http://127", with: "http://user:pass@127", maxReplacements: 1)
        }
        let own = try Account(await client.upload(Fixtures.form(), to: url("/echo-headers")))
        #expect(own.values("authorization").count == 1)
        let other = try Account(
            await client.upload(Fixtures.form(), to: url(server.url("/echo-headers", host: "localhost")))
        )
        #expect(other.values("authorization") == [])
    }

    @Test func `An Authorization field of one's own stays with the origin, and does not come back`() async throws {
        let server = try await Fixtures.server
        let elsewhere = server.url("/redirect/307", host: "localhost")
        var request = CurlRequest(url: server.url("/redirect/307?drain=1&to=/echo-headers"))
        try request.addHeader("Authorization", "Custom secret")
        try request.addHeader("Host", "virtual.example")
        let own = try Account(await client.upload(Fixtures.form(), request))
        #expect(own.values("authorization") == ["Custom secret"])
        #expect(own.values("host") == ["virtual.example"])

        request.url = server.url("/redirect/307?drain=1&to=\(elsewhere)%3Fto=\(server.url("/echo-headers"))")
        let response = try await client.upload(Fixtures.form(), request)
        #expect(response.redirectCount == 2)
        let back = try Account(response)
        #expect(back.values("authorization") == [])
        #expect(back.values("host") == ["127.0.0.1:\(server.http)"])
    }

    @Test(arguments: [
        CurlRequest.Authentication.basic(user: "user", password: "pass"), .bearer("secret"),
    ])
    func `A download's credentials stay with the origin, too`(
        authentication: CurlRequest.Authentication
    ) async throws {
        let server = try await Fixtures.server
        for (host, count) in [("127.0.0.1", 1), ("localhost", 0)] {
            var request = CurlRequest(
                nil,
                url: server.url("/redirect/302?to=\(server.url("/echo-headers", host: host))")
            )
            request.authentication = authentication
            try request.addHeader("Cookie", "a=b")
            let account = try Account(await client.download(request))
            #expect(account.values("authorization").count == count && account.values("cookie").count == count)
        }
    }
}
