import Foundation
import Sluice
import SluiceCurl
import SluiceTestSupport
import Testing

/// The ways to a server: proxies, unix sockets, versions of HTTP, certificates of the client's, rates.
@Suite struct NetworkTests {
    private let client = CurlClient()
    private let directory: TemporaryDirectory
    private let log: String

    init() throws {
        directory = try TemporaryDirectory()
        log = try directory.file("log", [])
    }

    private func proxy(_ kind: String, user: String? = nil) async throws -> ServerProcess {
        let certificates = try await Fixtures.certificates
        if let user {
            return try await ServerProcess.started(
                "proxy_server.py",
                "--kind",
                kind,
                "--log",
                log,
                "--tls",
                certificates,
                "--user",
                user
            )
        }
        return try await ServerProcess.started("proxy_server.py", "--kind", kind, "--log", log, "--tls", certificates)
    }

    private func logged() throws -> [String] {
        try String(decoding: TemporaryDirectory.contents(ofFile: log), as: UTF8.self).split(separator: "\n").map(
            String.init
        )
    }

    // MARK: Proxies

    @Test(arguments: ["http", "https", "socks5", "socks5h"], ["http", "https"])
    func `An upload goes through a proxy, with credentials that only the proxy sees`(
        kind: String,
        scheme: String
    ) async throws {
        let proxy = try await proxy(kind == "socks5h" ? "socks5" : kind, user: "us er:p@ss")
        let server = try await Fixtures.server
        let url =
            scheme == "http" ? server.url("/upload", host: "localhost") : server.secureURL("/upload", host: "localhost")
        let port = scheme == "http" ? server.http : server.https ?? 0
        var request = try await Fixtures.secureRequest(url: url)
        request.proxy = .url("\(kind)://127.0.0.1:\(proxy.http)", user: "us er", password: "p@ss")
        let lines = Lines()
        request.debug = { lines.add($0) }
        let account = try Account(await client.upload(Fixtures.form(300_000), request))
        try account.expectForm(300_000)
        #expect(account.values("proxy-authorization").isEmpty)
        let expected =
            switch kind {
            case "socks5h": "name localhost:\(port) us er:p@ss"
            case "socks5": "address 127.0.0.1:\(port) us er:p@ss"
            default: (scheme == "http" ? "POST \(url)" : "CONNECT localhost:\(port)") + " us er:p@ss"
            }
        #expect(try logged() == [expected])
        // Base64 of the two.
        #expect(!lines.texts().contains { $0.contains("p@ss") || $0.contains("dXMgZXI6cEBzcw") })

        request.proxy = .url("\(kind)://us%20er:p%40ss@127.0.0.1:\(proxy.http)")
        try Account(await client.upload(Fixtures.form(), request)).expectForm()
        #expect(!"\(request) \(request.proxy)".contains("ss@"))
    }

    @Test func `A proxy that refuses is an answer, or an error without its secrets`() async throws {
        let proxy = try await proxy("http", user: "user:pass")
        let server = try await Fixtures.server
        var request = try await Fixtures.secureRequest(url: server.url("/upload"))
        request.proxy = .url("http://user:s3cret@127.0.0.1:\(proxy.http)")
        #expect(try await client.upload(Fixtures.form(), request).status == 407)
        request.url = server.secureURL("/upload")
        let error = try #require(await failure { try await client.upload(Fixtures.form(), request) })
        #expect(!"\(error)".contains("s3cret"))
        #expect(error.sentBytes == 0)
    }

    @Test func `Hosts can be reached without the proxy, and there may be none at all`() async throws {
        let server = try await Fixtures.server
        let proxy = try await proxy("http")
        var request = CurlRequest(url: server.url("/upload"))
        request.proxy = .url("127.0.0.1:\(proxy.http)", except: ["example.com", "127.0.0.1"])
        try Account(await client.upload(Fixtures.form(), request)).expectForm()
        request.proxy = .url("127.0.0.1:\(proxy.http)", except: ["*"])
        try Account(await client.upload(Fixtures.form(), request)).expectForm()
        #expect(try logged().isEmpty)
        request.proxy = .url("127.0.0.1:\(proxy.http)", except: ["example.com"])
        try Account(await client.upload(Fixtures.form(), request)).expectForm()
        #expect(try logged().count == 1)
    }

    @Test func `The environment names the proxy unless there is to be none`() async throws {
        let server = try await Fixtures.server
        let url = server.url("/upload", host: "localhost")
        await #expect(processExitsWith: .success) { [url = url as String] in
            unsafe setenv("http_proxy", "http://127.0.0.1:1", 1)
            let client = CurlClient()
            var request = CurlRequest(url: url)
            let body = try MultipartForm { Part.field("a", "b") }.body()
            #expect(await failure { try await client.upload(body, request) }?.code == .couldNotConnect)
            request.proxy = .none
            #expect(try await client.upload(body, request).status == 200)
        }
    }

    @Test(arguments: [
        CurlRequest.Proxy.url(""), .url("ftp://127.0.0.1:1"), .url("socks4://127.0.0.1:1"), .url("http://a b:1"),
        .url("http://a:99999"),
        .url("http://127.0.0.1:1\r\nX: y"), .url("http://a%0d%0ab:c@127.0.0.1:1"),
        .url("127.0.0.1:1", user: "a:b", password: "c"),
        .url("127.0.0.1:1", user: "a", password: "b\r\nX: y"), .url("127.0.0.1:1", except: ["a,b"]),
        .url("127.0.0.1:1", except: [""]),
        .url("127.0.0.1:1", except: ["a b"]), .url("http://user:s3cret@"),
    ])
    func `A proxy that is none is refused, without its secrets`(proxy: CurlRequest.Proxy) async throws {
        var request = CurlRequest(url: "http://127.0.0.1:1/")
        request.proxy = proxy
        let error = try #require(await failure { try await client.upload(Fixtures.form(), request) })
        #expect(error.code == .invalidRequest)
        #expect(!"\(error)".contains("s3cret"))
    }

    @Test func `A proxy's description has no secrets`() {
        var dumped = ""
        for proxy in [
            CurlRequest.Proxy.url("http://user:s3cret@host:1"), .url("host:1", user: "user", password: "s3cret"),
            .url("user:s3cret@host:1"), .url("http://us/er:s3cret@host:1"),
        ] {
            dump(proxy, to: &dumped)
            dumped += "\(proxy) \(String(reflecting: proxy))"
        }
        let certificate = CurlRequest.TLSOptions.ClientCertificate(certificateFile: "a.pem", passphrase: "s3cret")
        dump(certificate, to: &dumped)
        var options = CurlRequest.TLSOptions()
        options.clientCertificate = certificate
        dump(options, to: &dumped)
        #expect(!"\(dumped) \(certificate) \(options)".contains("s3cret"))
    }

    // MARK: Unix sockets

    @Test func `An upload and a download go over a unix socket`() async throws {
        let nginx = try await Fixtures.nginx
        var request = CurlRequest(url: "http://any.example/upload")
        request.unixSocket = nginx.unix
        // A proxy has no part in it.
        request.proxy = .url("http://127.0.0.1:1")
        let response = try await client.upload(Fixtures.form(300_000), request)
        #expect(response.status == 200)
        #expect(response.sentCompletely)
        try nginx.store("unix", [1, 2, 3])
        request.url = "http://any.example/store/unix"
        #expect(try await client.download(request).body == [1, 2, 3])
    }

    @Test func `A server closes a unix socket early, and its answer is the response`() async throws {
        var request = CurlRequest(url: "http://any.example/small")
        request.unixSocket = try await Fixtures.nginx.unix
        let response = try await client.upload(Fixtures.form(3_000_000), request)
        #expect(response.status == 413)
        #expect(!response.sentCompletely)
    }

    @Test(arguments: ["", "a\u{0}b", String(repeating: "a", count: 108)])
    func `A path that no socket has is refused`(path: String) async throws {
        var request = CurlRequest(url: "http://127.0.0.1:1/")
        request.unixSocket = path
        #expect(await failure { try await client.download(request) }?.code == .invalidRequest)
    }

    @Test func `A unix socket that is not there is an error`() async throws {
        var request = CurlRequest(url: "http://127.0.0.1/")
        request.unixSocket = "\(directory.path)/gone"
        #expect(await failure { try await client.download(request) }?.code == .couldNotConnect)
    }

    // MARK: Versions

    @Test(arguments: [
        ("https", CurlRequest.HTTPVersion.automatic, "HTTP/2"), ("https", .http1_1, "HTTP/1.1"),
        ("https", .http2, "HTTP/2"),
        ("https", .http2PriorKnowledge, "HTTP/2"), ("http", .automatic, "HTTP/1.1"), ("http", .http1_1, "HTTP/1.1"),
        ("http", .http2, "HTTP/1.1"),
    ])
    func `The version of HTTP is the one that was asked for`(
        scheme: String,
        version: CurlRequest.HTTPVersion,
        expected: String
    ) async throws {
        let nginx = try await Fixtures.nginx
        var request = try await Fixtures.secureRequest(
            url: scheme == "http" ? nginx.url("/upload") : nginx.secureURL("/upload")
        )
        request.httpVersion = version
        let response = try await client.upload(Fixtures.form(300_000), request)
        #expect(response.status == 200)
        #expect(response.httpVersion == expected)
        #expect(response.sentCompletely)
    }

    @Test func `Transfers that begin together share one connection of HTTP/2`() async throws {
        let nginx = try await Fixtures.nginx
        let lines = Lines()
        var request = try await Fixtures.secureRequest(url: nginx.secureURL("/upload"))
        request.debug = { lines.add($0) }
        try await withThrowingTaskGroup { group in
            for index in 0..<40 {
                group.addTask { [request] in
                    let response = try await client.upload(Fixtures.form(100_000 + index), request)
                    #expect(response.status == 200)
                    #expect(response.httpVersion == "HTTP/2")
                }
            }
            try await group.waitForAll()
        }
        #expect(lines.texts(.info).filter { $0.hasPrefix("Connected to") }.count == 1)
    }

    // MARK: Who the client is

    private struct Identity: Decodable {
        let verify: String
        let subject: String
    }

    private func identity(_ request: CurlRequest) async throws -> Identity {
        try JSONDecoder().decode(Identity.self, from: Data(await client.download(request).body))
    }

    @Test func `A client shows its certificate, and only to the origin`() async throws {
        let nginx = try await Fixtures.nginx
        let certificates = try await Fixtures.certificates
        var request = try await Fixtures.secureRequest(nil, url: nginx.secureURL("/whoami"))
        #expect(try await identity(request).verify == "NONE")
        for certificate in [
            CurlRequest.TLSOptions.ClientCertificate(
                certificateFile: "\(certificates)/client.pem",
                keyFile: "\(certificates)/client.key"
            ),
            .init(certificateFile: "\(certificates)/locked.pem", passphrase: "open sesame"),
        ] {
            request.tls.clientCertificate = certificate
            let identity = try await identity(request)
            #expect(identity.verify == "SUCCESS")
            #expect(identity.subject.contains("Sluice test client"))
        }
        // By another origin to the same server.
        request.url = nginx.url("/moved/302").replacing("http://127.0.0.1", with: "http://localhost")
        let server = try await Fixtures.server
        request.url = server.secureURL("/redirect/307?to=\(nginx.secureURL("/whoami"))")
        #expect(try await identity(request).verify == "NONE")
    }

    @Test(arguments: ["wrong passphrase", "no key", "no file"])
    func `A certificate that cannot be used is an error`(flaw: String) async throws {
        let nginx = try await Fixtures.nginx
        let certificates = try await Fixtures.certificates
        var request = try await Fixtures.secureRequest(nil, url: nginx.secureURL("/whoami"))
        request.tls.clientCertificate =
            switch flaw {
            case "wrong passphrase": .init(certificateFile: "\(certificates)/locked.pem", passphrase: "s3cret")
            case "no key": .init(certificateFile: "\(certificates)/client.pem")
            default: .init(certificateFile: "\(certificates)/nowhere.pem")
            }
        let error = try #require(await failure { try await client.download(request) })
        #expect(error.code == .tls)
        #expect(!"\(error)".contains("s3cret"))
    }

    @Test(arguments: ["certificate", "key", "passphrase"])
    func `Names and passphrases with a NUL are refused`(what: String) async throws {
        var request = CurlRequest(url: "https://127.0.0.1:1/")
        request.tls.clientCertificate = .init(
            certificateFile: what == "certificate" ? "a\u{0}b" : "a",
            keyFile: what == "key" ? "a\u{0}b" : "a",
            passphrase: what == "passphrase" ? "a\u{0}b" : "a"
        )
        #expect(await failure { try await client.download(request) }?.code == .invalidRequest)
    }

    // MARK: Rates

    @Test func `An upload and a download are no faster than they may be`() async throws {
        let server = try await Fixtures.server
        var request = CurlRequest(url: server.url("/raw"))
        request.uploadRateLimit = 1_000_000
        request.idleTimeout = .seconds(5)
        let start = SuspendingClock.now
        let response = try await client.upload(Fixtures.form(2_000_000), request)
        #expect(response.status == 200)
        #expect(SuspendingClock.now - start > .seconds(1.2))

        let middle = SuspendingClock.now
        var slow = try await CurlRequest(url: Fixtures.faults.place().file())
        slow.downloadRateLimit = 500_000
        let file = try await client.download(slow, toFile: "\(directory.path)/file")
        #expect(file.byteCount == 1_000_003)
        #expect(SuspendingClock.now - middle > .seconds(1.2))
    }

    @Test(arguments: [0, -1])
    func `A rate that is none is refused`(rate: Int) async throws {
        var request = CurlRequest(url: "http://127.0.0.1:1/")
        request.uploadRateLimit = rate
        #expect(await failure { try await client.download(request) }?.code == .invalidRequest)
        request.uploadRateLimit = nil
        request.downloadRateLimit = rate
        #expect(await failure { try await client.download(request) }?.code == .invalidRequest)
    }

    @Test(arguments: [1, Int.max])
    func `A rate without measure is no reason to trap`(rate: Int) async throws {
        var request = try await CurlRequest(url: Fixtures.faults.place().file("small"))
        request.uploadRateLimit = rate
        request.downloadRateLimit = rate == 1 ? nil : rate
        #expect(try await client.download(request).status == 200)
    }

    // MARK: From https to http

    @Test func `A redirect does not lead from https to http unless it may`() async throws {
        let server = try await Fixtures.server
        var request = try await Fixtures.secureRequest(
            url: server.secureURL("/redirect/307?drain=1&to=\(server.url("/upload"))")
        )
        let error = try #require(await failure { try await client.upload(Fixtures.form(), request) })
        #expect(error.code == .insecureRedirect)
        #expect(error.description.contains(server.url("/upload")))
        request.allowsInsecureRedirects = true
        try Account(await client.upload(Fixtures.form(), request)).expectForm()
    }
}
