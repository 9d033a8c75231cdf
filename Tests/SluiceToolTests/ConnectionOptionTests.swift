import SluiceTestSupport
import Testing

/// The options about the way to the server, by what they do at its other end.
@Suite(.timeLimit(.minutes(5))) struct ConnectionOptionTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    // MARK: TLS and HTTP/2

    /// nginx with TLS, and the certificates.
    private struct Secure {
        let certificates: TemporaryDirectory
        let nginx: ServerProcess

        init() async throws {
            certificates = try TemporaryDirectory()
            let made = try await ToolProcess(
                [ServerProcess.python, ServerProcess.interop("make_certificates.py"), certificates.path]
            ).outcome()
            #expect(made.status == 0)
            nginx = try await ServerProcess.started("nginx_server.py", "--tls", certificates.path)
        }

        func path(_ name: String) -> String { "\(certificates.path)/\(name)" }
    }

    private static let secure = Task { try await Secure() }

    @Test func `A client's certificate is shown`() async throws {
        let secure = try await Self.secure.value
        let url = secure.nginx.secureURL("/whoami", host: "localhost")
        func subject(_ arguments: String...) async throws -> String {
            let all = ["--cacert", secure.path("ca.pem"), "--progress", "none"] + arguments
            let run = try await sluice(["download", url] + all)
            let curl = try await ToolProcess(
                ["curl", "-sS", url] + all.filter { !["--progress", "none"].contains($0) }
            )
            .outcome()
            #expect(run.text == curl.text)
            #expect(!run.errors.contains("sesame"))
            return try JSONValue(run.output)["verify"].string ?? ""
        }
        #expect(try await subject() == "NONE")
        #expect(try await subject("--cert", secure.path("client.pem"), "--key", secure.path("client.key")) == "SUCCESS")
        #expect(try await subject("-E", "\(secure.path("locked.pem")):open sesame") == "SUCCESS")
        #expect(try await subject("--cert", secure.path("locked.pem"), "--pass", "open sesame") == "SUCCESS")
        let wrong = try await sluice(
            ["download", url, "--cacert", secure.path("ca.pem"), "-v"]
                + ["--cert", secure.path("locked.pem"), "--pass", "not sesame"]
        )
        #expect(wrong.status == 76)
        #expect(!wrong.errors.contains("sesame"))
    }

    @Test(arguments: [
        ([], "HTTP/2.0"), (["--http1.1"], "HTTP/1.1"), (["--http2"], "HTTP/2.0"),
        (["--http2", "--http1.1"], "HTTP/1.1"),
        (["--http2-prior-knowledge"], "HTTP/2.0"),
    ])
    func `The version of HTTP is as asked for`(options: [String], version: String) async throws {
        let secure = try await Self.secure.value
        let url = secure.nginx.secureURL("/upload", host: "localhost")
        let run = try await sluice(
            ["upload", url, "-F", "a=b", "--cacert", secure.path("ca.pem"), "--progress", "none"] + options
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(try JSONValue(run.output)["protocol"].string == version)
    }

    // MARK: Sockets and proxies

    @Test func `A unix socket is connected to, whatever the URL says`() async throws {
        let nginx = try await Self.secure.value.nginx
        let socket = try #require(nginx.unix)
        let upload = try await sluice(
            "upload",
            "http://host.invalid/upload",
            "--unix-socket",
            socket,
            "-F",
            "a=b",
            "-f"
        )
        #expect(upload.status == 0, "\(upload.errors)")
        let store = try #require(nginx.directory) + "/store"
        _ = try ChildProcess.firstLine(of: "sh", "-c", "printf content > '\(store)/unix'")
        let run = try await sluice(
            "download",
            "http://host.invalid/store/unix",
            "--unix-socket",
            socket,
            "-o",
            "\(directory.path)/file"
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(try TemporaryDirectory.contents(ofFile: "\(directory.path)/file") == Array("content".utf8))
    }

    @Test func `A proxy is gone through as with curl`() async throws {
        let log = "\(directory.path)/log"
        let proxy = try ServerProcess("proxy_server.py", "--log", log, "--user", "user:pa ss")
        let url = try UploadServers.url("/discard")
        let address = proxy.url("/").replacing("http://", with: "")
        let table: [[String]] = [
            ["--proxy", proxy.url("/"), "--proxy-user", "user:pa ss"],
            ["-x", "http://user:pa%20ss@\(address)"],
            ["-x", address, "-U", "user:pa ss"],
            // Not the proxy.
            ["-x", proxy.url("/"), "-U", "user:pa ss", "--noproxy", "127.0.0.1"],
            ["-x", proxy.url("/"), "-U", "user:pa ss", "--noproxy", "example.com, 127.0.0.1"],
            ["-x", proxy.url("/"), "-U", "user:pa ss", "--noproxy", "*"],
            // The proxy.
            ["-x", proxy.url("/"), "-U", "user:pa ss", "--noproxy", "example.com"],
            // Refused by it.
            ["-x", proxy.url("/"), "-U", "user:wrong", "-f"],
            ["-x", proxy.url("/"), "-f"],
        ]
        for arguments in table {
            var logs: [[UInt8]] = []
            var statuses: [Int32?] = []
            for program in [["curl", "-sS"], [ToolProcess.tool, "upload", "--progress", "none"]] {
                try directory.file("log", [])
                let run = try await ToolProcess(program + [url, "-F", "a=b"] + arguments).outcome()
                logs.append(try TemporaryDirectory.contents(ofFile: log))
                statuses.append(run.status)
                #expect(!run.errors.contains("pa ss") && !run.errors.contains("pa%20ss"))
            }
            #expect(logs[0] == logs[1], "\(arguments)")
            #expect(statuses[0] == statuses[1], "\(arguments)")
        }
    }

    @Test(arguments: [
        ([], true), (["--noproxy", "127.0.0.1"], false), (["--noproxy", "example.com"], true),
        (["--noproxy", "*"], false), (["--proxy", ""], false), (["--noproxy", ""], true),
    ])
    func `The environment's proxy is used unless the options say otherwise`(
        options: [String],
        isUsed: Bool
    ) async throws {
        let log = try directory.file("log", [])
        let proxy = try ServerProcess("proxy_server.py", "--log", log)
        let environment = ["env", "-u", "no_proxy", "-u", "NO_PROXY", "http_proxy=\(proxy.url("/"))"]
        let url = try UploadServers.url("/discard")
        for program in [["curl", "-sS"], [ToolProcess.tool, "upload", "--progress", "none"]] {
            try directory.file("log", [])
            let run = try await ToolProcess(environment + program + [url, "-F", "a=b"] + options).outcome()
            #expect(run.status == 0, "\(run.errors)")
            #expect(try TemporaryDirectory.contents(ofFile: log).isEmpty != isUsed, "\(program)")
        }
    }

    @Test func `--noproxy counts in place of the environment's`() async throws {
        let log = try directory.file("log", [])
        let proxy = try ServerProcess("proxy_server.py", "--log", log)
        let run = try await ToolProcess(
            [
                "env", "no_proxy=127.0.0.1", "http_proxy=\(proxy.url("/"))", ToolProcess.tool, "download", "--noproxy",
                "x.y",
            ]
                + [try UploadServers.url("/echo-headers")]
        ).outcome()
        #expect(run.status == 0)
        #expect(try TemporaryDirectory.contents(ofFile: log).starts(with: Array("GET ".utf8)))
    }

    @Test func `A proxy that redirects a tunnel does not lead a download elsewhere`() async throws {
        let thief = try ServerProcess("upload_server.py")
        let proxy = try ServerProcess("connect_proxy.py", "--location", thief.url("/echo-headers"))
        let run = try await sluice("download", "https://bank.invalid/", "-L", "-x", proxy.url("/"))
        #expect(run.status == 74)
        #expect(run.output == [])
    }

    // MARK: Redirects, retries and rates

    @Test(arguments: [
        ([], 0, false), (["-L"], 0, true), (["-L", "--max-redirs", "2"], 0, true),
        (["-L", "--max-redirs", "-1"], 0, true),
        (["--max-redirs", "5"], 0, false), (["-L", "--max-redirs", "1"], 76, false),
        (["-L", "--max-redirs", "0"], 76, false),
    ])
    func `Redirects are followed as often as allowed`(options: [String], status: Int32, arrives: Bool) async throws {
        let url = try UploadServers.url("/redirect/307?drain=1&to=/redirect/308%3Fdrain%3D1%26to%3D/upload")
        let run = try await sluice(["upload", url, "-F", "a=b", "--progress", "none"] + options)
        #expect(run.status == status, "\(run.errors)")
        #expect(run.text.contains(#""name": "a""#) == arrives)
        if status == 76 { #expect(run.errors.contains("--max-redirs")) }
    }

    @Test func `An upload is tried again where that is safe`() async throws {
        let server = try await FaultServer()
        let place = server.place("503/1", "429/0")
        let run = try await sluice("upload", place.upload, "--retry", "2", "--progress", "none", "-F", "a=b")
        #expect(run.status == 0)
        #expect(try JSONValue(run.output)["attempt"].number == 3)
        let lines = run.errors.split(separator: "\n")
        #expect(lines.first == "sluice: the server answered 503; trying again in 1.0 s, attempt 2")
        #expect(lines.last?.hasPrefix("sluice: the server answered 429; trying again in ") == true)
        #expect(lines.count == 2)
    }

    @Test(arguments: [
        (["-X", "PUT"], ["502"], 2), (["-X", "PUT"], ["drop"], 2), ([], ["502"], 1), ([], ["drop"], 1),
        (["--retry-any-method"], ["500"], 2), (["--retry-any-method"], ["drop"], 2),
    ])
    func `A POST does not come twice to a server unless allowed`(
        options: [String],
        faults: [String],
        attempts: Int
    ) async throws {
        let server = try await FaultServer()
        let place = server.place(faults[0])
        let run = try await sluice(
            ["upload", place.upload, "--retry", "3", "--progress", "none", "-F", "a=b"] + options
        )
        #expect(try await place.requests().count == attempts)
        if faults[0] == "drop" { #expect(run.status == (attempts == 2 ? 0 : 74)) }
    }

    @Test func `A wait is as long as asked for, or up to a half shorter`() async throws {
        let server = try await FaultServer()
        let place = server.place("503", "503")
        let start = SuspendingClock.now
        let run = try await sluice(
            ["upload", place.upload, "--retry", "2", "--retry-delay", "0.2", "--progress", "json", "-F", "a=b"]
        )
        #expect(run.status == 0)
        #expect(SuspendingClock.now - start > .seconds(0.2))
        let delays = try run.errors.split(separator: "\n").map { try JSONValue(Array($0.utf8)) }
            .compactMap { $0["retrying"]["delay"].number }
        #expect(delays.count == 2)
        #expect(delays.allSatisfy { 0.1...0.2 ~= $0 })
    }

    @Test(arguments: [["upload", "-F", "a=@file"], ["download", "-o", "received"]])
    func `The rate is limited both ways`(arguments: [String]) async throws {
        try directory.sparseFile("file", size: 1_500_000)
        let server = try ServerProcess("upload_server.py", "--files", directory.path)
        let url = server.url(arguments[0] == "upload" ? "/discard" : "/files/file")
        let start = SuspendingClock.now
        let run = try await ToolProcess(
            ["bash", "-c", #"cd "$0" && exec "$@""#, directory.path, ToolProcess.tool] + arguments
                + [url, "--limit-rate", "500K", "--progress", "none"]
        ).outcome()
        #expect(run.status == 0, "\(run.errors)")
        // 1.5 MB at 512,000 bytes a second take three; the first second's worth may go at once.
        #expect(SuspendingClock.now - start > .seconds(1.5))
    }
}
