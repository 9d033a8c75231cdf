import SluiceTestSupport
import Testing

@testable import SluiceTool

@Suite struct ExitCodeTests {
    /// A command line, the status that it ends with, and a piece of what it says.
    struct Case: Sendable, CustomTestStringConvertible {
        let arguments: [String]
        let status: Int32
        let message: String

        init(_ status: Int32, _ arguments: [String], _ message: String) {
            self.arguments = arguments
            self.status = status
            self.message = message
        }

        var testDescription: String { "\(status): \(arguments.joined(separator: " "))" }
    }

    static let cases = [
        Case(0, ["--help"], ""),
        Case(0, ["-h"], ""),
        Case(0, ["--version"], ""),
        Case(0, ["encode", "--help"], ""),
        Case(0, ["upload", "url", "--help"], ""),
        Case(0, ["download", "-h"], ""),
        Case(0, ["encode", "-F", "a=b"], ""),
        Case(0, ["decode", "--help"], ""),
        Case(0, ["receive", "--help"], ""),
        Case(
            64,
            [],
            "there is no command; encode, upload, download, decode, receive are the ones; try 'sluice --help'"
        ),
        Case(64, ["destroy"], "unknown command 'destroy'; try 'sluice --help'"),
        Case(64, ["decode"], "give --boundary or --content-type; try 'sluice decode --help'"),
        Case(64, ["decode", "--boundary", "a;b"], "the boundary"),
        Case(64, ["decode", "--boundary", "a", "--content-type", "multipart/mixed; boundary=a"], "two ways to say it"),
        Case(64, ["decode", "--content-type", "text/plain"], "not multipart"),
        Case(64, ["decode", "--content-type", "multipart/mixed"], "has no boundary"),
        Case(64, ["decode", "--content-type", "multipart/mixed; boundary=a; boundary=b"], "twice"),
        Case(64, ["decode", "--boundary", "a", "x", "y"], "one argument too many, 'y'"),
        Case(64, ["decode", "--boundary", "a", "--force"], "--force is for --into"),
        Case(64, ["decode", "--boundary", "a", "--max-parts", "-1"], "--max-parts is a number"),
        Case(64, ["decode", "--boundary", "a", "--max-file", "1X"], "--max-file is a number of bytes"),
        Case(64, ["download", "http://x/a", "-O", "-o", "b"], "-o and -O each say where the file goes"),
        Case(64, ["receive", "x"], "one argument too many, 'x'"),
        Case(64, ["receive", "--port", "65536"], "--port is a number from 0 to 65535"),
        Case(64, ["receive", "--bind", "localhost"], "--bind is an IP address"),
        Case(64, ["receive", "--max-connections", "0"], "--max-connections is a number from 1"),
        Case(65, ["decode", "--boundary", "a", "/dev/null"], "before its first delimiter"),
        Case(66, ["decode", "--boundary", "a", "/nonexistent"], "/nonexistent: cannot be opened"),
        Case(66, ["decode", "--boundary", "a", "/"], "/: cannot be read: Is a directory"),
        Case(73, ["decode", "--boundary", "a", "--into", "/nonexistent/x"], "/nonexistent/x: cannot be made"),
        Case(73, ["receive", "--port", "0", "--into", "/dev/null"], "cannot be opened as a directory"),
        Case(64, ["--frobnicate"], "unknown option '--frobnicate'; try 'sluice --help'"),
        Case(64, ["encode", "-Z"], "unknown option '-Z'; try 'sluice encode --help'"),
        Case(64, ["encode"], "there is nothing to send"),
        Case(64, ["upload", "http://x/"], "there is nothing to send"),
        Case(64, ["upload", "-F", "a=b"], "there is no URL"),
        Case(64, ["upload", "a", "b", "-F", "a=b"], "one argument too many behind the URL"),
        Case(64, ["encode", "a=b", "-F", "a=b"], "one argument too many, 'a=b'"),
        Case(64, ["encode", "-F", "a=b;c"], #"-F 'a=b;c' has ";c""#),
        Case(64, ["encode", "-F", "=b"], "no name before the ="),
        Case(64, ["encode", "-F", "=)"], "no group to end"),
        Case(64, ["encode", "-F", "a=b;headers=x"], "the header 'x' is not like"),
        Case(64, ["encode", "-F", "a=(;type=text/x"], "a group of parts has a type like multipart/mixed"),
        Case(64, ["encode", "--form-string", "a"], "--form-string 'a' is not NAME=VALUE"),
        Case(64, ["encode", "-F", "a=b", "--boundary", "a;b"], "the boundary"),
        Case(64, ["encode", "-F", "a=b", "--subtype", "a b"], "the subtype"),
        Case(64, ["encode", "-F", "a=b", "--escape", "x"], "--escape is percent, html or backslash"),
        Case(64, ["upload", "ftp://x/", "-F", "a=b"], "ftp"),
        Case(64, ["upload", "x", "-F", "a=b", "--progress", "x"], "--progress is one of auto, bar, plain, json, none"),
        Case(64, ["upload", "x", "-F", "a=b", "-m", "-1"], "--max-time is a number of seconds"),
        Case(64, ["upload", "x", "-F", "a=b", "--max-response", "1X"], "--max-response is a number of bytes"),
        Case(64, ["upload", "x", "-F", "a=b", "-H", "X"], "-H 'X' is not like"),
        Case(64, ["upload", "x", "-F", "a=b", "-H", "Authorization secret"], "-H 'Authorization ...' is not like"),
        Case(64, ["upload", "x", "-F", "a=b", "-H", "X Y: secret"], "-H 'X ...': "),
        Case(64, ["upload", "x", "-F", "a=b", "-H", "Accept:"], "-H 'Accept:...' has no value"),
        Case(64, ["upload", "x", "-F", "a=b", "-H", "Content-Length: 1"], "Content-Length follows from the body"),
        Case(64, ["upload", "x", "-F", "a=b", "-u", "user"], "no terminal to ask for a password"),
        Case(64, ["upload", "x", "-F", "a=b", "--digest"], "need a user"),
        Case(64, ["upload", "x", "-F", "a=b", "-u", "a:secret", "--oauth2-bearer", "secret"], "two ways"),
        Case(64, ["upload", "x", "-F", "a=b", "--retry", "-1"], "--retry is a number, not '-1'"),
        Case(64, ["upload", "x", "-F", "a=b", "--retry", ""], "--retry is a number"),
        Case(64, ["upload", "x", "-F", "a=b", "--retry-max-time", "soon"], "--retry-max-time is a number of seconds"),
        Case(64, ["upload", "x", "-F", "a=b", "--limit-rate", "fast"], "--limit-rate is a number of bytes"),
        Case(64, ["upload", "x", "-F", "a=b", "--max-redirs", "-2"], "--max-redirs is a number"),
        Case(64, ["upload", "x", "-F", "a=b", "--parallel", "0"], "--parallel is a number from 1"),
        Case(64, ["upload", "x", "-F", "a=b", "--unix-socket", ""], "the path of the unix socket is empty"),
        Case(64, ["upload", "x", "-F", "a=b", "--proxy", "ftp://u:secret@p/"], "of a kind that is not known"),
        Case(64, ["upload", "x", "-F", "a=b", "--proxy-user", "a:secret"], "--proxy-user needs a proxy"),
        Case(
            64,
            ["upload", "x", "-F", "a=b", "-x", "p", "-U", "a"],
            "no terminal to ask for a password on; give it as -U"
        ),
        Case(64, ["upload", "x", "-F", "a=b", "--key", "k"], "--key and --pass need a certificate"),
        Case(64, ["upload", "x", "-F", "a=b", "--pass", "secret"], "--key and --pass need a certificate"),
        Case(64, ["upload", "x", "-F", "a=b", "--next"], "transfer 2: there is no URL to upload to"),
        Case(64, ["upload", "x", "-F", "a=b", "--next", "y"], "transfer 2: there is nothing to send"),
        Case(64, ["upload", "x", "-F", "a=@-", "--next", "y", "-F", "a=@-"], "transfer 2: only one part can be read"),
        Case(64, ["upload", "x", "-F", "a=b", "-C"], "unknown option '-C'; try 'sluice upload --help'"),
        Case(64, ["encode", "-F", "a=b", "--next", "-F", "a=b"], "unknown option '--next'"),
        Case(64, ["download"], "there is no URL to download from; try 'sluice download --help'"),
        Case(64, ["download", "http://u:secret@x/", "y"], "one argument too many behind the URL"),
        Case(64, ["download", "x", "-o", "y", "-"], "one argument too many behind the URL"),
        Case(64, ["download", "x", "-C"], "--continue is for files, which standard output is not"),
        Case(64, ["download", "x", "-o", "-", "--fsync"], "--fsync is for files, which standard output is not"),
        Case(64, ["download", "x", "-o", "/dev/null", "-C"], "--continue is for files, which /dev/null is not"),
        Case(64, ["download", "x", "-o", "y", "-C", "--remove-on-error"], "contradict each other"),
        Case(64, ["download", "x", "-o", "y", "--sha256", "abc"], "--sha256 is 64 hexadecimal digits"),
        Case(64, ["download", "x", "-o", "y", "--crc32", "0x12345"], "--crc32 is 8 hexadecimal digits"),
        Case(64, ["download", "http://x", "-O"], "does not end with the name of a file"),
        Case(64, ["download", "http://x/a/?b/c", "-O"], "does not end with the name of a file"),
        Case(64, ["download", "http://x/a/..", "-O"], "does not end with the name of a file"),
        Case(64, ["download", "x", "--parallel", "2", "--next", "y"], "two downloads to standard output"),
        Case(64, ["download", "x", "-F", "a=b"], "unknown option '-F'"),
        Case(64, ["download", "x", "-o", "y", "-H", "Range: bytes=1-"], "do not add Range"),
        Case(65, ["encode", "-F", "a=b;type=text/x y"], "-F 'a=b;type=text/x y': "),
        Case(65, ["encode", "-F", "a=b;headers=X Y: z"], "is not a token"),
        Case(65, ["encode", "-F", "a=b;headers=Content-Disposition: x"], "Content-Disposition is not a custom header"),
        Case(65, ["encode", "--form-escape", "-F", "a\nb=c"], "has a CR, LF or NUL"),
        Case(66, ["encode", "-F", "a=@/nonexistent"], #"part "a": /nonexistent: "#),
        Case(66, ["encode", "-F", "a=@/"], "is a directory"),
        Case(66, ["encode", "-F", "a=b;headers=@/nonexistent"], "/nonexistent: cannot be opened: No such file"),
        Case(66, ["upload", "https://x/", "-F", "a=b", "--cacert", "/nonexistent"], "/nonexistent: cannot be opened"),
        Case(
            66,
            ["upload", "https://x/", "-F", "a=b", "--cert", "/nonexistent:secret"],
            "/nonexistent: cannot be opened"
        ),
        Case(
            66,
            ["upload", "https://x/", "-F", "a=b", "-E", "/dev/null", "--key", "/nonexistent"],
            "/nonexistent: cannot"
        ),
        Case(
            69,
            ["download", UploadServers.refusing, "-o", "/tmp/sluice-test-refused"],
            "nobody accepts the connection"
        ),
        Case(69, ["download", UploadServers.refusing], "nobody accepts the connection"),
        Case(73, ["download", UploadServers.refusing, "-o", "/nonexistent/x"], "/nonexistent/x: "),
        Case(73, ["download", UploadServers.refusing, "-o", "/"], "is a directory"),
        Case(69, ["upload", UploadServers.refusing, "-F", "a=b"], "nobody accepts the connection"),
        Case(69, ["upload", "http://host.invalid/", "-F", "a=b"], "no address"),
        Case(73, ["encode", "-F", "a=b", "-o", "/nonexistent/x"], "/nonexistent/x: "),
        Case(73, ["encode", "-F", "a=b", "-o", ""], "the path is empty; name a file"),
        Case(73, ["encode", "-F", "a=b", "-o", "/tmp/"], "/tmp/: names a directory; name a file in it"),
        Case(73, ["encode", "-F", "a=b", "-o", "/"], "/: names a directory; name a file in it"),
        Case(73, ["upload", UploadServers.refusing, "-F", "a=b", "-o", "/nonexistent/x"], "/nonexistent/x: "),
        Case(74, ["encode", "-F", "a=b", "-o", "/dev/full"], "/dev/full: "),
        Case(74, ["encode", "-F", "a=@/proc/self/mem"], "reading failed"),
    ]

    @Test(arguments: cases)
    func `The exit status says what was wrong, in one line`(_ example: Case) async throws {
        let run = try await sluice(example.arguments)
        #expect(run.status == example.status, "\(run.errors)")
        guard example.status != 0 else { return }
        #expect(run.errors.hasPrefix("sluice: "))
        #expect(run.errors.contains(example.message), "\(run.errors)")
        #expect(run.errors.split(separator: "\n").count == 1)
        #expect(!run.errors.contains("\u{1B}"))
        #expect(!run.errors.contains("secret"))
    }

    @Test func `Limits of time end with 75, in the words of the options`() async throws {
        let path = try UploadServers.url("/slow-response?seconds=20")
        let total = try await sluice("upload", path, "-F", "a=b", "--max-time", "0.2", "--progress", "none")
        #expect(total.status == 75)
        #expect(total.errors.contains("raise --max-time"))
        let idle = try await sluice("upload", path, "-F", "a=b", "--idle-timeout", "0.3", "--progress", "none")
        #expect(idle.status == 75)
        #expect(idle.errors.contains("raise --idle-timeout"))
        let long = try UploadServers.url("/big-response?bytes=2000000")
        let answer = try await sluice("upload", long, "-F", "a=b", "--max-response", "1M", "--progress", "none")
        #expect(answer.status == 76)
        #expect(answer.errors.contains("raise --max-response"))
    }

    @Test func `What speaks no TLS, or another's, ends with 76`() async throws {
        let certificates = try TemporaryDirectory()
        let made = try await ToolProcess(
            [ServerProcess.python, ServerProcess.interop("make_certificates.py"), certificates.path]
        ).outcome()
        #expect(made.status == 0)
        let server = try ServerProcess("upload_server.py", "--tls", certificates.path)
        let url = server.secureURL("/discard", host: "localhost")
        func upload(_ arguments: String...) async throws -> ToolProcess.Outcome {
            try await sluice(["upload", url, "-F", "a=b", "--progress", "none"] + arguments)
        }
        let untrusted = try await upload()
        #expect(untrusted.status == 76)
        #expect(untrusted.errors.contains("--cacert"))
        #expect(try await upload("--cacert", "\(certificates.path)/other-ca.pem").status == 76)
        #expect(try await upload("--cacert", "\(certificates.path)/ca.pem").status == 0)
        #expect(try await upload("-k").status == 0)
        let plain = server.url("/").split(separator: "://").last ?? ""
        #expect(try await sluice("upload", "https://\(plain)", "-F", "a=b").status == 76)
    }

    @Test func `A connection that is lost ends with 74`() async throws {
        let server = try ServerProcess("raw_server.py", "--mode", "reset-early", "--after", "1000")
        let directory = try TemporaryDirectory()
        let big = try directory.sparseFile("big", size: 64 << 20)
        let run = try await sluice("upload", server.url("/"), "--progress", "none", "-F", "a=@\(big)")
        #expect(run.status == 74, "\(run.errors)")
    }

    @Test func `A file that changes meanwhile ends with 65`() async throws {
        let run = try await shell(
            #"cd "$(mktemp -d)"; echo old > a; mkfifo p; "$sluice" encode -F p=@p -F a=@a --strict-files > body & tool=$!; "#
                + #"exec 3> p; echo newer >> a; exec 3>&-; wait $tool; echo $?; rm -r "$PWD""#
        )
        #expect(run.text == "65\n")
        #expect(run.errors.contains(#"part "a": a: was modified"#))
    }

    @Test func `An argument that is not UTF-8 is refused`() async throws {
        let run = try await shell(#""$sluice" encode -F $'a=\xff'; echo $?"#)
        #expect(run.text == "64\n")
        #expect(run.errors == "sluice: argument 3 is not UTF-8\n")
    }

    @Test(.enabled(if: isRoot)) func `A lack of permission ends with 77`() async throws {
        let run = try await shell(
            #"cd "$(mktemp -d)"; echo x > a; chmod 0 a; chmod 755 .; as="setpriv --reuid 65534 --regid 65534 --clear-groups"; "#
                + #"cp "$sluice" /tmp/sluice-nobody-$$; chmod 755 /tmp/sluice-nobody-$$; "#
                + #"$as /tmp/sluice-nobody-$$ encode -F a=@a; echo $?; $as /tmp/sluice-nobody-$$ encode -F a=b -o b; echo $?; "#
                + #"rm -r "$PWD" /tmp/sluice-nobody-$$"#
        )
        #expect(run.text == "77\n77\n")
    }

    private static let isRoot = (try? ChildProcess.firstLine(of: "id", "-u")) == "0"
}
