import SluiceTestSupport
import Testing

@testable import SluiceTool

@Suite struct UploadCommandTests {
    private let directory: TemporaryDirectory
    private let file: String

    init() throws {
        directory = try TemporaryDirectory()
        file = try directory.file("a.txt", Array("content\n".utf8))
    }

    private func upload(_ path: String, _ arguments: String...) async throws -> ToolProcess.Outcome {
        try await sluice(["upload", try UploadServers.url(path), "--progress", "none"] + arguments)
    }

    // MARK: What arrives

    @Test func `The server gets the form, and its answer goes to standard output`() async throws {
        let run = try await upload("/upload", "-F", "title=Högtid", "-F", "film=@\(file);type=video/x")
        #expect(run.status == 0)
        #expect(run.errors == "")
        let answer = try JSONValue(run.output)
        #expect(answer["method"].string == "POST")
        #expect(answer["parts"].map("name") == ["title", "film"])
        #expect(answer["parts"].map("filename") == [nil, "a.txt"])
        #expect(answer["parts"].map("contentType") == [nil, "video/x"])
        #expect(answer["parts"].array.last?["sha256"].string == (try ChildProcess.sha256(ofFile: file)))
        #expect(!answer["contentLength"].isNull)
    }

    @Test func `What comes through a pipe is sent in chunks`() async throws {
        let run = try await shell(
            #"printf content | "$sluice" upload "$1" --progress none -F 'a=@-;filename=x'"#,
            try UploadServers.url("/upload")
        )
        let answer = try JSONValue(run.output)
        #expect(answer["transferEncoding"].string == "chunked")
        #expect(answer["parts"].array.first?["size"].number == 7)
    }

    @Test func `The request is as the options say`() async throws {
        let run = try await upload(
            "/upload",
            "-F",
            "a=b",
            "-X",
            "PUT",
            "-H",
            "X-A: b: c",
            "-H",
            "X-Empty;",
            "--subtype",
            "mixed",
            "--boundary",
            "a=b"
        )
        let answer = try JSONValue(run.output)
        #expect(answer["method"].string == "PUT")
        let headers = answer["headers"].array.map { $0.array.map(\.string) }
        #expect(headers.contains(["X-A", "b: c"]))
        #expect(headers.contains(["X-Empty", ""]))
        #expect(headers.contains(["Content-Type", #"multipart/mixed; boundary="a=b""#]))
    }

    @Test func `A URL without a scheme is one of HTTP`() async throws {
        let url = try UploadServers.url("/discard").dropFirst("http://".count)
        #expect(try await sluice("upload", String(url), "-F", "a=b").status == 0)
    }

    // MARK: Who is asked, and where

    @Test(arguments: [
        ("/basic?drain=1", []), ("/digest?drain=1", ["--digest"]), ("/digest?drain=1", ["--anyauth"]),
        ("/basic?drain=1", ["--anyauth"]),
    ])
    func `Credentials are sent as the server wants them`(path: String, options: [String]) async throws {
        let url = try UploadServers.url(path)
        let right = try await sluice(["upload", url, "-f", "-F", "a=@\(file)", "-u", "user:pass"] + options)
        #expect(right.status == 0, "\(right.errors)")
        let wrong = try await sluice(["upload", url, "-f", "-F", "a=@\(file)", "-u", "user:wrong"] + options)
        #expect(wrong.status == 22)
        #expect(wrong.errors.contains("sluice: HTTP 401 Unauthorized\n"))
    }

    @Test(arguments: ["--bearer", "--oauth2-bearer"]) func `A token is sent as such`(option: String) async throws {
        let run = try await upload("/upload", "-F", "a=b", option, "abc")
        #expect(run.text.contains(#"["Authorization", "Bearer abc"]"#))
    }

    @Test func `A redirect is followed only if asked for`() async throws {
        let path = "/redirect/307?to=/upload&drain=1"
        let plain = try await upload(path, "-F", "a=@\(file)", "-v")
        #expect(plain.errors.contains("< HTTP/1.1 307"))
        #expect(!plain.errors.contains("POST /upload"))
        let followed = try await upload(path, "-F", "a=@\(file)", "-L")
        #expect(try JSONValue(followed.output)["parts"].map("name") == ["a"])
    }

    // MARK: The answer

    @Test func `A refusal is printed, or with --fail a failure`() async throws {
        let path = "/status/418?drain=1&body=teapot"
        let plain = try await upload(path, "-F", "a=b")
        #expect(plain.status == 0)
        #expect(plain.text == "teapot")
        let failing = try await upload(path, "-F", "a=b", "--fail")
        #expect(failing.status == 22)
        #expect(failing.text == "")
        #expect(failing.errors == "sluice: HTTP 418 I'm a Teapot\n")
    }

    @Test func `The answer goes to a file, which only a whole answer replaces`() async throws {
        let output = try directory.file("answer", Array("old".utf8))
        let failing = [
            (22, ["/status/500?drain=1", "-f"]), (76, ["/big-response?bytes=100000", "--max-response", "64K"]),
            (75, ["/slow-response?seconds=20", "-m", "0.2"]),
        ]
        for (status, arguments) in failing {
            let url = try UploadServers.url(arguments[0])
            let run = try await sluice(["upload", url, "-F", "a=b", "-o", output] + arguments.dropFirst())
            #expect(run.status == Int32(status), "\(run.errors)")
            #expect(try TemporaryDirectory.contents(ofFile: output) == Array("old".utf8))
        }
        let run = try await upload("/status/200?drain=1&body=new", "-F", "a=b", "-o", output)
        #expect(run.output == [])
        #expect(try TemporaryDirectory.contents(ofFile: output) == Array("new".utf8))
        #expect(try Files.names(in: directory.path) == ["a.txt", "answer"])
    }

    @Test func `A part's own file is not written to`() async throws {
        let run = try await upload("/discard", "-F", "a=@\(file)", "-o", file)
        #expect(run.status == 64)
        #expect(try TemporaryDirectory.contents(ofFile: file) == Array("content\n".utf8))
    }

    @Test func `An early refusal is heard`() async throws {
        let server = try ServerProcess("raw_server.py", "--mode", "413-early")
        let big = try directory.sparseFile("big", size: 1 << 30)
        let run = try await sluice("upload", server.url("/"), "--progress", "none", "--fail", "-F", "a=@\(big)")
        #expect(run.status == 22)
        #expect(run.errors.hasPrefix("sluice: HTTP 413 "))
        #expect(run.errors.hasSuffix(", answered before all of the body was sent\n"))
    }

    // MARK: What is told meanwhile

    @Test func `Verbose shows the headers without the credentials`() async throws {
        let run = try await upload("/upload", "-F", "a=b", "-v", "-u", "user:secret")
        #expect(run.errors.contains("\n> POST /upload HTTP/1.1\n"))
        #expect(run.errors.contains("\n< HTTP/1.1 200 OK\n"))
        #expect(run.errors.contains("\n> Authorization: "))
        #expect(run.errors.contains("\n* "))
        #expect(!run.errors.contains("secret"))
        // base64 of the credentials
        #expect(!run.errors.contains("dXNlcjpzZWNyZXQ"))
    }

    @Test func `Progress is told as JSON, a line a report`() async throws {
        let big = try directory.sparseFile("b\"ig", size: 300 << 20)
        let run = try await sluice(
            "upload",
            try UploadServers.url("/discard"),
            "--progress",
            "json",
            "-F",
            #"na\me=@"\#(big.split(separator: "\"").joined(separator: "\\\""))""#
        )
        #expect(run.status == 0)
        let reports = try run.errors.split(separator: "\n").map { try JSONValue(Array($0.utf8)) }
        let last = try #require(reports.last)
        #expect(last["finished"].number == 1)
        #expect(last["completed"].number == last["total"].number)
        #expect(last["fraction"].number == 1)
        #expect(last["part"]["name"].string == #"na\me"#)
        #expect(last["part"]["completed"].number == Double(300 << 20))
        let completed = reports.compactMap { $0["completed"].number }
        #expect(completed == completed.sorted())
        #expect(completed.count == reports.count)
        let keys: Set = [
            "transfer", "completed", "total", "fraction", "rate", "eta", "attempt", "resumed", "part", "source",
            "elapsed", "finished",
        ]
        #expect(reports.allSatisfy { $0.keys == keys })
        // Someone else's parser agrees.
        let lines = try directory.file("lines", Array(run.errors.utf8))
        #expect(
            try await ToolProcess(["python3", "-m", "json.tool", "--json-lines"], input: lines).outcome().status == 0
        )
    }

    @Test func `Where the length is not known, progress says so until the end`() async throws {
        let run = try await shell(
            #"(printf a; sleep 0.5; printf b) | "$sluice" upload "$1" --progress json -F a=@-"#,
            try UploadServers.url("/discard")
        )
        let reports = try run.errors.split(separator: "\n").map { try JSONValue(Array($0.utf8)) }
        let last = try #require(reports.last)
        #expect(reports.dropLast().allSatisfy { $0["total"].isNull && $0["fraction"].isNull && $0["eta"].isNull })
        #expect(last["total"].number == 176)
        #expect(last["part"]["total"].isNull)
        #expect(last["part"]["completed"].number ?? 0 >= 1)
    }

    @Test func `Without a terminal progress is lines`() async throws {
        let run = try await sluice("upload", try UploadServers.url("/discard"), "-F", "a=b")
        #expect(run.errors.hasPrefix("100%, 121 B of 121 B, "))
        #expect(run.errors.contains("done in 0:"))
        #expect(!run.errors.contains("\r"))
        let unknown = try await shell(
            #"(printf a; sleep 2.5; printf b) | "$sluice" upload "$1" -F a=@-"#,
            try UploadServers.url("/discard")
        )
        #expect(unknown.status == 0)
        #expect(unknown.errors.split(separator: "\n").count <= 4)
    }

    @Test func `A failing write of the answer is an error`() async throws {
        let url = try UploadServers.url("/discard")
        let run = try await shell(#""$sluice" upload "$1" --progress none -F a=b > /dev/full; echo $?"#, url)
        #expect(run.text == "74\n" || run.errors.contains("No space left on device"))
        let gone = try await shell(
            #""$sluice" upload "$1" --progress none -F a=b | sleep 0; echo "${PIPESTATUS[0]}""#,
            try UploadServers.url("/big-response?bytes=1000000")
        )
        #expect(gone.text == "141\n")
        #expect(gone.errors == "")
    }
}
