import Sluice
import SluiceCurl
import SluiceTestSupport
import Testing

@Suite struct AuthenticationTests {
    private let client = CurlClient()

    static let drains = ["?drain=1", ""]

    @Test func `Basic credentials go with the first request`() async throws {
        let directory = try TemporaryDirectory()
        let server = try await ServerProcess.started("raw_server.py", "--mode", "record", "--record", directory.path)
        var request = CurlRequest(url: server.url("/"))
        request.authentication = .basic(user: "Aladdin", password: "open sesame")
        _ = try await client.upload(Fixtures.form(), request)
        // RFC 7617 section 2.
        #expect(try Recorded(directory).values("authorization") == ["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="])
    }

    @Test func `A bearer token goes with the first request`() async throws {
        let directory = try TemporaryDirectory()
        let server = try await ServerProcess.started("raw_server.py", "--mode", "record", "--record", directory.path)
        var request = CurlRequest("PUT", url: server.url("/"))
        // RFC 6750 section 2.1.
        request.authentication = .bearer("mF_9.B5f-4.1JqM")
        _ = try await client.upload(Fixtures.form(), request)
        #expect(try Recorded(directory).values("authorization") == ["Bearer mF_9.B5f-4.1JqM"])
    }

    @Test(arguments: drains)
    func `The server accepts Basic credentials, and refuses wrong ones with a response`(drain: String) async throws {
        var request = try await CurlRequest(url: Fixtures.server.url("/basic\(drain)"))
        request.authentication = .basic(user: "user", password: "pass")
        try Account(await client.upload(Fixtures.form(), request)).expectForm()
        request.authentication = .basic(user: "user", password: "wrong")
        let response = try await client.upload(Fixtures.form(), request)
        #expect(response.status == 401)
        #expect(response.header("WWW-Authenticate")?.hasPrefix("Basic") == true)
        #expect(String(decoding: response.body, as: UTF8.self).contains("unauthorized"))
    }

    @Test func `Credentials in the URL are used, and told nobody`() async throws {
        let server = try await Fixtures.server
        let url = "http://user:pass@127.0.0.1:\(server.http)/basic"
        let response = try await client.upload(Fixtures.form(), to: url)
        try Account(response).expectForm()
        #expect(response.url == server.url("/basic"))

        var request = CurlRequest(url: url)
        request.authentication = .basic(user: "user", password: "wrong")
        #expect(try await client.upload(Fixtures.form(), request).status == 401)
    }

    @Test(arguments: ["MD5", "SHA-256"], ["&drain=1", ""])
    func `Digest authentication asks first and sends the body once`(algorithm: String, drain: String) async throws {
        var request = try await CurlRequest(url: Fixtures.server.url("/digest?algorithm=\(algorithm)\(drain)"))
        request.authentication = .digest(user: "user", password: "pass")
        try Account(await client.upload(Fixtures.form(), request)).expectForm()
        try Account(await client.upload(Fixtures.onceForm(), request)).expectForm()
        try Account(await client.upload(Fixtures.onceForm(knownLength: false), request)).expectForm()
        request.method = "PUT"
        try Account(await client.upload(Fixtures.onceForm(), request)).expectForm()
        request.authentication = .digest(user: "user", password: "wrong")
        #expect(try await client.upload(Fixtures.form(), request).status == 401)
    }

    @Test func `A server that wants no credentials gets the body after the question`() async throws {
        var request = try await CurlRequest(url: Fixtures.server.url("/raw"))
        request.authentication = .digest(user: "user", password: "pass")
        let body = try Fixtures.onceForm()
        let response = try await client.upload(body, request)
        #expect(try Account(response).size == Int(#require(body.contentLength)))
        #expect(response.sentCompletely)
    }

    @Test(arguments: ["/basic", "/digest"], drains)
    func `Any authentication answers the challenge and sends the body again`(path: String, drain: String) async throws {
        var request = try await CurlRequest(url: Fixtures.server.url(path + drain))
        request.authentication = .any(user: "user", password: "pass")
        let response = try await client.upload(Fixtures.form(500_000), request)
        try Account(response).expectForm(500_000)
        #expect(response.sentCompletely)
        #expect(response.headers.filter { $0.name == "WWW-Authenticate" }.isEmpty)
        request.authentication = .any(user: "user", password: "wrong")
        #expect(try await client.upload(Fixtures.form(500_000), request).status == 401)
    }

    @Test(arguments: [CurlRequest.Authentication.digest(user: "u", password: "p"), .any(user: "u", password: "p")])
    func `Behind a challenge a connection that breaks is no reason to send a POST twice`(
        authentication: CurlRequest.Authentication
    ) async throws {
        for count in [1, 200_000] {
            let place = try await Fixtures.faults.place("challenge", "reset@\(count)")
            var request = CurlRequest("POST", url: place.upload)
            request.authentication = authentication
            request.expectContinue = .never
            let body = try Fixtures.form(300_000)
            #expect(await failure { try await client.upload(body, request) }?.code == .connectionLost)
            #expect(try await place.requests().count == 2)
            // libcurl sends it by itself where it has used the connection before, which is no harm to a PUT.
            request.method = "PUT"
            request.retry = .quick(2)
            request.url = try await Fixtures.faults.place("challenge", "reset@\(count)").upload
            #expect(try await Received(client.upload(body, request)).size == Int(#require(body.contentLength)))
        }
    }

    @Test func `A body that can be read once is not sent again after a challenge`() async throws {
        var request = try await CurlRequest(url: Fixtures.server.url("/basic?drain=1"))
        request.authentication = .any(user: "user", password: "pass")
        let error = try #require(await failure { try await client.upload(Fixtures.onceForm(), request) })
        #expect(error.code == .bodyNotReplayable)
        #expect(error.sentBytes > 0)
    }

    @Test func `A body that can be read once waits for the challenge where it may`() async throws {
        var request = try await CurlRequest(url: Fixtures.server.url("/basic"))
        request.authentication = .any(user: "user", password: "pass")
        request.expectContinue = .always
        try Account(await client.upload(Fixtures.onceForm(), request)).expectForm()
    }
}
