import SluiceTestSupport
import Testing

@testable import SluiceTool

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

@Suite struct ReceiveCommandTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    // MARK: Storing

    @Test func `An upload is stored, and the answer says where`() async throws {
        let receiver = try await Receiver("--digests")
        let noise = TemporaryDirectory.noise(3_000_001)
        let file = try directory.file("noise.bin", noise)
        let (status, body, _) = try await receiver.curl([
            "-F", "title=Holiday", "-F", "file=@\(file)", "-F", "file=@\(file)", "-F",
            "empty=@/dev/null;filename=empty",
        ])
        #expect(status == 200)
        let parts = try JSONValue(body)
        for part in parts.array {
            #expect(part.keys == ["name", "filename", "contentType", "size", "sha256", "path", "value"])
        }
        #expect(parts.map("name") == ["title", "file", "file", "empty"])
        #expect(parts.map("filename") == [nil, "noise.bin", "noise.bin", "empty"])
        #expect(parts.map("value") == ["Holiday", nil, nil, nil])
        let (first, second) = ("\(receiver.inbox)/noise.bin", "\(receiver.inbox)/noise-2.bin")
        #expect(parts.map("path") == [nil, first, second, "\(receiver.inbox)/empty"])
        #expect(parts.array.map { $0["size"].number } == [7, 3_000_001, 3_000_001, 0])
        #expect(parts.array[1]["sha256"].string == (try ChildProcess.sha256(ofFile: file)))
        #expect(try receiver.content("noise.bin") == noise)
        #expect(try receiver.content("noise-2.bin") == noise)
        #expect(try receiver.names() == ["empty", "noise-2.bin", "noise.bin"])
        // Blocks that were set aside for more are given back.
        var status2 = stat()
        #expect(unsafe stat(first, &status2) == 0)
        #expect(Int64(status2.st_blocks) * 512 < 3_000_001 + 256 * 1024)
        #expect(status2.st_mode & 0o111 == 0)
    }

    @Test func `The framing makes no difference`() async throws {
        let receiver = try await Receiver()
        let noise = TemporaryDirectory.noise(1_500_000)
        let file = try directory.file("noise.bin", noise)
        for options in [[], ["-H", "Transfer-Encoding: chunked"], ["-H", "Expect:"], ["--http1.0"], ["-X", "PUT"]] {
            let answer = try await receiver.curl(["-F", "file=@\(file)"] + options)
            #expect(answer.status == 200, "\(options)")
            let path = try #require(try JSONValue(answer.body).map("path").first ?? nil)
            #expect(try TemporaryDirectory.contents(ofFile: path) == noise, "\(options)")
        }
        #expect(try receiver.names().count == 5)
    }

    @Test func `The client is told to go on before it sends`() async throws {
        let receiver = try await Receiver()
        let answer = try await receiver.curl(["-v", "-H", "Expect: 100-continue", "-F", "a=b"])
        #expect(answer.status == 200)
        #expect(answer.run.errors.contains("HTTP/1.1 100 Continue"))
        let refused = try await receiver.curl([
            "-v", "-H", "Expect: 100-continue", "-H", "Origin: http://other.example", "-F", "a=b",
        ])
        #expect(refused.status == 403)
        #expect(!refused.run.errors.contains("HTTP/1.1 100 Continue"))
    }

    @Test func `An upload that is not multipart/form-data has files without names`() async throws {
        let receiver = try await Receiver()
        let body = try directory.file("body", Array("--B\r\n\r\nfirst\r\n--B--\r\n".utf8))
        let answer = try await receiver.curl([
            "-H", "Content-Type: multipart/mixed; boundary=B", "--data-binary", "@\(body)",
        ])
        #expect(answer.status == 200)
        #expect(try receiver.names() == ["part-1"])
    }

    /// What a head says of the body's length, in one way or in two, which is what request smuggling needs.
    ///
    /// RFC 9112 sections 5.1 and 6.3. `LENGTH` stands for the true length.
    static let framings = [
        "Content-Length: LENGTH", "Content-Length: LENGTH\r\nContent-Length: 0", "Content-Length: 0",
        "Content-Length: 0\r\nContent-Length: LENGTH", "Content-Length: LENGTH\r\ncontent-length: LENGTH",
        "Content-Length: -1", "Content-Length: +LENGTH", "Content-Length: LENGTH, LENGTH", "Content-Length: 0x20",
        "Content-Length: 9223372036854775808", "Content-Length: 18446744073709551617", "Content-Length: ",
        "Content-Length: LENGTH\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: LENGTH",
        "Transfer-Encoding: xchunked\r\nContent-Length: LENGTH", "Transfer-Encoding: xchunked",
        "Transfer-Encoding : chunked\r\nContent-Length: LENGTH", "Transfer-Encoding: identity, chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "Transfer-Encoding: chunked", "",
        "Transfer-Encoding:\r\n chunked\r\nContent-Length: LENGTH", "Content-Length: LENGTH\r\nHost: localhost",
        "Content-Length: LENGTH\r\nContent-Type: multipart/form-data; boundary=C",
    ]

    @Test(arguments: framings)
    func `No second request hides behind a first one`(framing: String) async throws {
        let receiver = try await Receiver()
        let content = { (filename: String) in
            String(decoding: SampleBody.body(SampleBody.file(filename)), as: UTF8.self)
        }
        let start =
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=B\r\nFRAMING\r\n"
        let smuggled =
            start.replacing("FRAMING", with: "Content-Length: \(content("smuggled").utf8.count)\r\n")
            + content("smuggled")
        // Behind no body, behind the last of no chunks, and behind a body.
        for (number, body) in ["", "0\r\n\r\n", content("first")].enumerated() {
            let length = body.utf8.count + (number == 2 ? 0 : smuggled.utf8.count)
            let lines = framing.isEmpty ? "" : "\(framing.replacing("LENGTH", with: "\(length)"))\r\n"
            let bytes = start.replacing("FRAMING", with: lines) + body + smuggled
            let path = try directory.file("request", Array(bytes.utf8))
            let run = try await shell(
                #"exec 3<> "/dev/tcp/127.0.0.1/$1"; trap '' PIPE; cat "$2" >&3; timeout 60 cat <&3; echo "end: $?""#,
                receiver.port,
                path
            )
            #expect(!run.text.contains("end: 124"), "\(run.text)")
            let isFirst = number == 2 && framing == "Content-Length: LENGTH"
            #expect(run.text.contains("HTTP/1.1 200") == isFirst, "\(run.text)")
            #expect(try receiver.names() == (isFirst ? ["first"] : []), "\(run.text)")
        }
    }

    @Test func `Filenames lead nowhere else, and nothing that is there is replaced`() async throws {
        let receiver = try await Receiver()
        let outside = try directory.file("outside", Array("outside".utf8))
        _ = try await shell(#"ln -s "$1" "$2/link.txt"; echo mine > "$2/mine.txt""#, outside, receiver.inbox)
        let body = SampleBody.body(
            SampleBody.file("../../etc/passwd"),
            SampleBody.file("link.txt"),
            SampleBody.file("mine.txt"),
            SampleBody.file("..\\..\\x.txt"),
            SampleBody.file("", "")
        )
        let path = try directory.file("body", body)
        let answer = try await receiver.curl([
            "-H", "Content-Type: multipart/form-data; boundary=B", "--data-binary", "@\(path)",
        ])
        #expect(answer.status == 200)
        #expect(try JSONValue(answer.body).array.last?["path"].isNull == true)
        #expect(try receiver.names() == ["link-2.txt", "link.txt", "mine-2.txt", "mine.txt", "passwd", "x.txt"])
        #expect(try TemporaryDirectory.contents(ofFile: outside) == Array("outside".utf8))
        #expect(try receiver.content("mine.txt") == Array("mine\n".utf8))
    }

    @Test(arguments: ["", "ulimit -S -n 40"])
    func `Many upload at a time, also where few files may be open unless one asks for more`(
        script: String
    ) async throws {
        let receiver = try await Receiver(before: script)
        let files = try (1...12).map {
            try directory.file("\($0)", TemporaryDirectory.noise(400_000 + $0, seed: UInt64($0)))
        }
        let stored = try await withThrowingTaskGroup(of: (String, String?).self) { group in
            for file in files {
                group.addTask {
                    let answer = try await receiver.curl(["-F", "file=@\(file);filename=same.bin"])
                    #expect(answer.status == 200)
                    return (file, try JSONValue(answer.body).map("path").first ?? nil)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(stored.map(\.1)).count == 12)
        for (sent, path) in stored {
            let path = try #require(path)
            #expect(try TemporaryDirectory.contents(ofFile: path) == TemporaryDirectory.contents(ofFile: sent))
        }
        #expect(try receiver.names().count == 12)
    }

    @Test func `More clients than allowed are turned away, and let in later`() async throws {
        let receiver = try await Receiver("--max-connections", "1")
        let holder = try ToolProcess([
            "/bin/bash", "-c", #"exec 3<> "/dev/tcp/127.0.0.1/$1"; sleep 300"#, "bash", receiver.port,
        ])
        var isTurnedAway = false
        for _ in 0..<500 where !isTurnedAway { isTurnedAway = try await receiver.curl(["-F", "a=b"]).run.status != 0 }
        #expect(isTurnedAway)
        holder.send(SIGKILL)
        _ = try await holder.outcome()
        var isLetIn = false
        for _ in 0..<500 where !isLetIn { isLetIn = try await receiver.curl(["-F", "a=b"]).status == 200 }
        #expect(isLetIn)
    }

    @Test func `No more clients are let in than files may be open for`() async throws {
        let receiver = try await Receiver("--max-connections", "500", before: "ulimit -n 62")
        #expect(receiver.process.errorsSoFar.contains("no more than 10 clients at a time"))
        let holder = try ToolProcess([
            "/bin/bash", "-c",
            #"for i in {1..100}; do exec {socket}<> "/dev/tcp/127.0.0.1/$1"; done; echo; sleep 300"#, "bash",
            receiver.port,
        ])
        #expect(await ProcessState.settles(within: 60) { !holder.outputSoFar.isEmpty })
        // What listens and wakes it, and a connection that is about to be turned away.
        #expect(await ProcessState.settles(within: 60) { (10...13).contains(socketCount(of: receiver)) })
        holder.send(SIGKILL)
        _ = try await holder.outcome()
        var isLetIn = false
        for _ in 0..<500 where !isLetIn { isLetIn = try await receiver.curl(["-F", "a=b"]).status == 200 }
        #expect(isLetIn)
        #expect(try await receiver.stop().signal == SIGTERM)
    }

    private func socketCount(of receiver: Receiver) -> Int {
        ProcessState.openDescriptors(of: "\(receiver.process.pid)").values.count { $0.hasPrefix("socket:") }
    }

    @Test func `A large upload takes the memory of a small one`() async throws {
        let receiver = try await Receiver("--once")
        let file = try directory.sparseFile("file", size: 300 << 20)
        #expect(try await receiver.curl(["-F", "file=@\(file)"]).status == 200)
        let run = try await receiver.process.outcome()
        #expect(run.status == 0)
        #expect(run.peakMemory < 32 * 1024)
    }

    // MARK: Refusing

    /// A request, and how it is refused.
    struct Refused: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let status: Int
        let message: String
        let options: [String]
        let curl: [String]

        init(
            _ what: String,
            _ status: Int,
            _ message: String,
            options: [String] = [],
            curl: [String] = ["-F", "a=b"]
        ) {
            (testDescription, self.status, self.message, self.options, self.curl) = (
                what, status, message, options, curl
            )
        }
    }

    static let refused = [
        Refused("no multipart", 415, "not multipart", curl: ["-d", "a=b"]),
        Refused("no Content-Type", 415, "no Content-Type", curl: ["-d", "a", "-H", "Content-Type:"]),
        Refused("no boundary", 400, "has no boundary", curl: ["-d", "a", "-H", "Content-Type: multipart/form-data"]),
        Refused(
            "two boundaries",
            400,
            "twice",
            curl: ["-d", "a", "-H", "Content-Type: multipart/form-data; boundary=a; boundary=b"]
        ),
        Refused(
            "no body",
            400,
            "before its first delimiter",
            curl: ["-X", "POST", "-H", "Content-Type: multipart/form-data; boundary=a"]
        ),
        Refused(
            "a body of something else",
            400,
            "does not begin with its delimiter",
            curl: ["-d", "a", "-H", "Content-Type: multipart/form-data; boundary=a"]
        ),
        Refused("another method", 405, "POST", curl: ["-X", "DELETE"]),
        Refused("another page's form", 403, "another site", curl: ["-F", "a=b", "-H", "Origin: http://x"]),
        Refused("a sandboxed page's form", 403, "another site", curl: ["-F", "a=b", "-H", "Origin: null"]),
        Refused("another port's page", 403, "another site", curl: ["-F", "a=b", "-H", "Sec-Fetch-Site: same-site"]),
        Refused("a name that leads here", 403, "--allow-host", curl: ["-F", "a=b", "-H", "Host: rebound.example"]),
        Refused(
            "too many parts",
            413,
            "more than 1 parts",
            options: ["--max-parts", "1"],
            curl: ["-F", "a=b", "-F", "c=d"]
        ),
        Refused("too long a field", 413, "more than 3 bytes", options: ["--max-field", "3"], curl: ["-F", "a=1234"]),
        Refused(
            "too long a field that calls itself a multipart",
            413,
            "more than 3 bytes",
            options: ["--max-field", "3"],
            curl: ["-F", "a=1234;type=multipart/mixed; boundary=b"]
        ),
        Refused(
            "too long fields together",
            413,
            "more than 1048576 bytes",
            curl: (1...11).flatMap { _ in ["-F", "a=\(String(repeating: "1", count: 100_000))"] }
        ),
        Refused(
            "too long header fields",
            431,
            "more than 65536 bytes",
            curl: ["-F", "a=b"] + (1...10).flatMap { ["-H", "X-\($0): \(String(repeating: "1", count: 10_000))"] }
        ),
        Refused("too long a body", 413, "more than 50 bytes", options: ["--max-total", "50"]),
        Refused("a disk that would be too full", 507, "left free", options: ["--min-free", "4000000G"]),
    ]

    @Test(arguments: refused)
    func `A refused upload gets a status that fits, the reason, and leaves nothing`(_ example: Refused) async throws {
        let receiver = try await Receiver(example.options)
        let answer = try await receiver.curl(example.curl)
        #expect(answer.status == example.status)
        let reason = try JSONValue(answer.body)["error"].string ?? ""
        #expect(reason.contains(example.message), "\(reason)")
        #expect(try receiver.names() == [])
        // It goes on.
        let sane = try await receiver.curl(["-X", "GET"])
        #expect(sane.status == 200)
    }

    @Test func `Only the page is there to see`() async throws {
        let receiver = try await Receiver()
        let page = try await receiver.curl(["-i"])
        #expect(page.status == 200)
        #expect(page.run.text.contains("Content-Security-Policy: default-src 'none'"))
        #expect(page.run.text.contains(#"<form method="post" enctype="multipart/form-data">"#))
        let other = try await ToolProcess([
            "curl", "-q", "-s", "-o", "/dev/null", "-w", "%{http_code}", "\(receiver.url)x",
        ])
        .outcome()
        #expect(other.text == "404")
    }

    @Test(arguments: [["-H", "Expect:"], ["-H", "Expect:", "-H", "Transfer-Encoding: chunked"]])
    func `A file that turns out to be too large is refused while it comes`(options: [String]) async throws {
        let receiver = try await Receiver("--max-file", "10M")
        let file = try directory.sparseFile("file", size: 40 << 20)
        let first = SampleBody.boundary
        let answer = try await receiver.curl(
            ["-F", "first=@/dev/null;filename=\(first)", "-F", "file=@\(file)"] + options
        )
        #expect(answer.status == 413)
        #expect(try JSONValue(answer.body)["error"].string?.contains("more than 10485760 bytes") == true)
        #expect(try receiver.names() == [])
        #expect(await ProcessState.settles(within: 20) { receiver.process.errorsSoFar.contains("refused with 413") })
    }

    @Test(arguments: ["100000 bytes", "a bad header"])
    func `A client that waits is told what is wrong with the last bytes that it sent`(what: String) async throws {
        let receiver = try await Receiver("--max-file", "1000000")
        let end =
            what == "a bad header" ? #"printf '\r\n--B\r\nno such header\r\n\r\n' >&3"# : "head -c 110000 /dev/zero >&3"
        let run = try await shell(
            #"exec 3<> "/dev/tcp/127.0.0.1/$1"; printf 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50000000\r\n"#
                + #"Content-Type: multipart/form-data; boundary=B\r\n\r\n--B\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n' >&3; "#
                + "head -c 900000 /dev/zero >&3; sleep 0.5; \(end); timeout 40 cat <&3; echo $?",
            receiver.port
        )
        #expect(run.text.hasPrefix(what == "a bad header" ? "HTTP/1.1 400 " : "HTTP/1.1 413 "))
        #expect(run.text.hasSuffix("}\n0\n"))
        #expect(try receiver.names() == [])
    }

    @Test func `A receiver that ends leaves the directory to another one`() async throws {
        let first = try await Receiver()
        let second = try await Receiver(["--into", first.inbox])
        _ = try await first.stop()
        #expect(try await second.curl(["-F", "f=@/dev/null;filename=x"]).status == 200)
        #expect(try first.names() == ["x"])
    }

    @Test func `A client that cannot be told to stop is cut off`() async throws {
        let receiver = try await Receiver("--max-file", "1M")
        // Sends without reading, for ever.
        let run = try await shell(
            #"exec 3<> "/dev/tcp/127.0.0.1/$1"; printf 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000000\r\n"#
                + #"Content-Type: multipart/form-data; boundary=B\r\n\r\n--B\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n' >&3; "#
                + #"trap '' PIPE; head -c 1000000000 /dev/zero >&3 2>/dev/null; echo "cut off: $?""#,
            receiver.port
        )
        #expect(run.text == "cut off: 1\n")
        #expect(try receiver.names() == [])
    }

    // MARK: Endings

    @Test(arguments: [["-H", "Expect:"], ["-H", "Transfer-Encoding: chunked"]])
    func `An upload that breaks off leaves nothing`(options: [String]) async throws {
        let receiver = try await Receiver()
        let file = try directory.sparseFile("file", size: 50 << 20)
        let curl = try ToolProcess(
            ["curl", "-q", "-s", "--limit-rate", "100K", "-F", "first=@/etc/hostname", "-F", "f=@\(file)"]
                + options + [receiver.url]
        )
        let isUnderWay = await ProcessState.settles(within: 90) {
            (try? receiver.names().first?.hasPrefix(".sluice-")) == true
        }
        #expect(isUnderWay)
        curl.send(SIGKILL)
        _ = try await curl.outcome()
        #expect(await ProcessState.settles(within: 30) { (try? receiver.names()) == [] })
        #expect(
            await ProcessState.settles(within: 30) { receiver.process.errorsSoFar.contains("the client went away") }
        )
    }

    @Test func `What a killed receiver left is taken away by the next one, and nothing else`() async throws {
        let first = try await Receiver()
        let file = try directory.sparseFile("file", size: 50 << 20)
        func upload() throws -> ToolProcess {
            try ToolProcess(["curl", "-q", "-s", "--limit-rate", "100K", "-F", "f=@\(file)", first.url])
        }
        let uploads = try [upload(), upload()]
        let areUnderWay = await ProcessState.settles(within: 90) { (try? first.names().count) == 2 }
        #expect(areUnderWay)
        let staged = try first.names()

        // While they are received, they are nobody else's.
        let ours = StagingDirectory.prefixOfNew
        let others = ["kept", ".sluice-1", "\(ours)1", ".sluice-new-elsewhere-1"]
        let setUp = try await shell(
            #"cd "$1"; ln -s kept "$2"; shift 2; for name; do mkdir "$name"; echo x > "$name/file"; cp "$name/file" "$name/1"; done"#,
            first.inbox,
            "\(ours)2",
            others[0],
            others[1],
            others[2],
            others[3]
        )
        #expect(setUp.status == 0)
        let second = try await Receiver(["--into", first.inbox])
        #expect(try Set(first.names()).isSuperset(of: staged))
        #expect(second.process.errorsSoFar == "")

        first.process.send(SIGKILL)
        _ = try await first.process.outcome()
        for upload in uploads { _ = try await upload.outcome() }
        #expect(try Set(first.names()).isSuperset(of: staged))
        let third = try await Receiver(["--into", first.inbox])
        #expect(third.process.errorsSoFar.contains("that a killed receiver left, taken away: 2"))
        #expect(try Set(first.names()) == Set(others + ["\(ours)2"]))
        for name in others {
            let path = "\(first.inbox)/\(name)"
            #expect(try TemporaryDirectory.contents(ofFile: "\(path)/file") == Array("x\n".utf8))
            // A name of ours, in a directory of ours.
            #expect(try Files.names(in: path).contains("1") == (name != "\(ours)1"))
        }
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `A signal ends it cleanly, uploads or not`(signal: Int32) async throws {
        let receiver = try await Receiver()
        #expect(try await receiver.curl(["-F", "f=@/dev/null;filename=whole"]).status == 200)
        let file = try directory.sparseFile("file", size: 50 << 20)
        let curl = try ToolProcess(["curl", "-q", "-s", "--limit-rate", "100K", "-F", "f=@\(file)", receiver.url])
        #expect(await ProcessState.settles(within: 30) { (try? receiver.names().count) == 2 })
        let outcome = try await receiver.stop(signal)
        #expect(outcome.signal == signal)
        #expect(try receiver.names() == ["whole"])
        curl.send(SIGKILL)
        _ = try await curl.outcome()
    }

    @Test func `With --once it ends with the first upload that is stored`() async throws {
        let receiver = try await Receiver("--once")
        #expect(try await receiver.curl(["-X", "GET"]).status == 200)
        #expect(try await receiver.curl(["-d", "a=b"]).status == 415)
        let answer = try await receiver.curl(["-F", "f=@/dev/null;filename=a"])
        #expect(answer.status == 200)
        #expect(try JSONValue(answer.body).map("filename") == ["a"])
        let outcome = try await receiver.process.outcome()
        #expect(outcome.status == 0)
        #expect(outcome.errors.contains("stored \(receiver.inbox)/a"))
    }

    @Test func `A disk that takes no more is told, and leaves nothing`() async throws {
        let receiver = try await Receiver(before: "trap '' XFSZ; ulimit -f 2048")
        let file = try directory.sparseFile("file", size: 8 << 20)
        let answer = try await receiver.curl(["-F", "f=@\(file)"])
        #expect(answer.status == 413)
        #expect(try JSONValue(answer.body)["error"].string?.contains("cannot be written") == true)
        #expect(try receiver.names() == [])
    }

    // MARK: Where it listens

    @Test func `It listens on loopback, unless told otherwise`() async throws {
        let receiver = try await Receiver()
        #expect(receiver.url.hasPrefix("http://127.0.0.1:"))
        let everywhere = try await Receiver("--bind", "0.0.0.0", "--allow-host", "box.example")
        #expect(everywhere.url.hasPrefix("http://0.0.0.0:"))
        let local = "http://127.0.0.1:\(everywhere.port)/"
        let named = try await shell(
            #"curl -q -s -w '%{http_code}' -H 'Host: BOX.example:80' -F a=b "$1" -o /dev/null"#,
            local
        )
        #expect(named.text == "200")
        let taken = try await sluice("receive", "--port", receiver.port, "--into", directory.path)
        #expect(taken.status == 69)
        #expect(taken.errors.contains("cannot be listened on: Address already in use"), "\(taken.errors)")
    }
}
