import Sluice
import SluiceCurl
import SluiceTestSupport
import Testing

@Suite struct TLSTests {
    private let client = CurlClient()

    @Test(arguments: ["127.0.0.1", "localhost"])
    func `A server whose authority is trusted gets the body`(host: String) async throws {
        let url = try await Fixtures.server.secureURL("/upload", host: host)
        let response = try await client.upload(Fixtures.form(), Fixtures.secureRequest(url: url))
        try Account(response).expectForm()
        #expect(response.url == url)
    }

    @Test func `TLS 1.3 can be demanded`() async throws {
        var request = try await Fixtures.secureRequest(url: Fixtures.server.secureURL("/upload"))
        request.tls.minimumVersion = .v1_3
        let lines = Lines()
        request.debug = { lines.add($0) }
        try Account(await client.upload(Fixtures.form(), request)).expectForm()
        #expect(lines.texts(.info).contains { $0.contains("SSL connection using TLSv1.3") })
    }

    @Test func `An authority that is not trusted is refused before anything is sent`() async throws {
        var request = try await CurlRequest(url: Fixtures.server.secureURL("/upload"))
        let system = try #require(await failure { try await client.upload(Fixtures.form(), request) })
        #expect(system.code == .tls)
        #expect(system.sentBytes == 0)

        request.tls.caFile = try await "\(Fixtures.certificates)/other-ca.pem"
        let other = try #require(await failure { try await client.upload(Fixtures.form(), request) })
        #expect(other.code == .tls)
        #expect(other.sentBytes == 0)
        #expect(other.description.contains("caFile"))
    }

    @Test(arguments: ["wronghost", "expired"])
    func `A certificate for another host or another time is refused`(certificate: String) async throws {
        let server = try await ServerProcess.started(
            "upload_server.py",
            "--tls",
            Fixtures.certificates,
            "--certificate",
            certificate
        )
        var request = try await Fixtures.secureRequest(url: server.secureURL("/upload"))
        let error = try #require(await failure { try await client.upload(Fixtures.form(), request) })
        #expect(error.code == .tls)
        #expect(error.sentBytes == 0)

        request.tls.verification = .disabled
        try Account(await client.upload(Fixtures.form(), request)).expectForm()
    }

    @Test func `A connection that was not verified is not used by a request that verifies`() async throws {
        let url = try await Fixtures.server.secureURL("/upload")
        var request = CurlRequest(url: url)
        request.tls.verification = .disabled
        try Account(await client.upload(Fixtures.form(), request)).expectForm()
        #expect(await failure { try await client.upload(Fixtures.form(), to: url) }?.code == .tls)
    }

    @Test func `A file of authorities that is not there is an error that says so`() async throws {
        var request = try await CurlRequest(url: Fixtures.server.secureURL("/upload"))
        request.tls.caFile = "/nowhere/ca.pem"
        let error = try #require(await failure { try await client.upload(Fixtures.form(), request) })
        #expect(error.code == .tls)
        #expect(error.reason.contains("CA file"))
    }

    @Test func `A server without TLS is refused`() async throws {
        let url = try await "https://127.0.0.1:\(Fixtures.server.http)/upload"
        let error = try #require(await failure { try await client.upload(Fixtures.form(), to: url) })
        #expect(error.code == .tls)
        #expect(error.sentBytes == 0)
    }
}
