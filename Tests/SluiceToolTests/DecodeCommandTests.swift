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

@Suite struct DecodeCommandTests {
    private let directory: TemporaryDirectory
    private let inbox: String

    init() throws {
        directory = try TemporaryDirectory()
        inbox = "\(directory.path)/in"
    }

    private func decode(_ body: [UInt8], _ options: String...) async throws -> ToolProcess.Outcome {
        try await sluice(["decode", "--boundary", "B", try directory.file("body", body)] + options)
    }

    private func inboxNames() throws -> [String] { try Files.names(in: inbox) }

    private func content(_ name: String) throws -> String {
        String(decoding: try TemporaryDirectory.contents(ofFile: "\(inbox)/\(name)"), as: UTF8.self)
    }

    // MARK: Listing

    // SHA-256 of "content", "" and "abc" as sha256sum has them.
    private static let digestOfContent = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"
    private static let digestOfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    private static let digestOfABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    private static let listed = SampleBody.body(
        SampleBody.field("a\tb", "abc"),
        SampleBody.part(
            #"Content-Disposition: form-data; name="f"; filename="x \"y\".txt""#,
            "Content-Type: text/plain; charset=utf-8",
            "X-Trace: 1",
            "x-trace: 2"
        ),
        SampleBody.file("", "", name: "nothing chosen")
    )

    @Test(arguments: [["--json"], ["--list", "--json"]])
    func `Parts are listed as JSON`(options: [String]) async throws {
        let run = try await sluice(
            ["decode", "--boundary", "B", try directory.file("body", Self.listed)] + options
        )
        #expect(run.status == 0, "\(run.errors)")
        let parts = try JSONValue(run.output)
        #expect(parts.map("name") == ["a\tb", "f", "nothing chosen"])
        #expect(parts.map("filename") == [nil, #"x "y".txt"#, ""])
        #expect(parts.map("contentType") == [nil, "text/plain; charset=utf-8", nil])
        #expect(parts.map("sha256") == [Self.digestOfABC, Self.digestOfContent, Self.digestOfNothing])
        #expect(parts.array.map { $0["size"].number } == [3, 7, 0])
        for part in parts.array {
            #expect(part.keys == ["name", "filename", "contentType", "headers", "size", "sha256", "offset"])
        }
        let headers = parts.array[1]["headers"].array.map { $0.array.map(\.string) }
        #expect(
            headers == [
                ["Content-Disposition", #"form-data; name="f"; filename="x \"y\".txt""#],
                ["Content-Type", "text/plain; charset=utf-8"], ["X-Trace", "1"], ["x-trace", "2"],
            ]
        )
        let offset = Int(parts.array[1]["offset"].number ?? 0)
        #expect(Self.listed[offset..<offset + 7].elementsEqual("content".utf8))
    }

    @Test func `Parts are listed a line each, which nothing in them can break`() async throws {
        let run = try await decode(Self.listed)
        let text = String(decoding: Self.listed, as: UTF8.self)
        let offsets = text.utf8Offsets(behind: "\r\n\r\n")
        #expect(
            run.text == """
                "a\\tb"\t-\t-\t3\t\(Self.digestOfABC)\t\(offsets[0])
                "f"\t"x \\"y\\".txt"\ttext/plain; charset=utf-8\t7\t\(Self.digestOfContent)\t\(offsets[1])
                "nothing chosen"\t""\t-\t0\t\(Self.digestOfNothing)\t\(offsets[2])

                """
        )
    }

    @Test func `A body without parts is an empty list`() async throws {
        #expect(try await decode(SampleBody.body(), "--json").text == "[]\n")
        #expect(try await decode(SampleBody.body()).text == "")
    }

    @Test func `As many parts are taken as are allowed, though all headers together are longer than otherwise`()
        async throws
    {
        let part = SampleBody.field("some name that makes the headers of all parts more than one MiB", "v")
        let body = Array((String(repeating: part, count: 12_000) + "--B--\r\n").utf8)
        let run = try await decode(body, "--max-parts", "12000")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.text.split(separator: "\n").count == 12_000)
        #expect(try await decode(body, "--max-parts", "11999").errors.contains("more than 11999 parts"))
    }

    @Test func `The body comes from standard input, in whatever pieces`() async throws {
        let body = try directory.file("body", Self.listed)
        let run = try await shell(
            #"dd bs=1 status=none if="$1" | "$sluice" decode - --boundary B --json; "#
                + #""$sluice" decode --boundary B --json < "$1""#,
            body
        )
        let direct = try await decode(Self.listed, "--json")
        #expect(run.text == direct.text + direct.text)
    }

    @Test func `Another subtype has parts without names`() async throws {
        let body = try directory.file(
            "body",
            Array("preamble\r\n--B\r\n\r\nfirst\r\n--B\r\nContent-Type: text/x\r\n\r\nsecond\r\n--B--\r\n".utf8)
        )
        let run = try await sluice(
            "decode",
            body,
            "--content-type",
            "multipart/mixed; boundary=\"B\"",
            "--json",
            "--into",
            inbox
        )
        let parts = try JSONValue(run.output)
        #expect(parts.map("name") == [nil, nil])
        #expect(parts.map("path") == ["\(inbox)/part-1", "\(inbox)/part-2"])
        #expect(try content("part-2") == "second")
    }

    // MARK: Writing

    @Test func `Parts are written to files`() async throws {
        let run = try await decode(
            SampleBody.body(SampleBody.field("title", "Holiday"), SampleBody.file("a.txt", "\r\n--\r\n")),
            "--into",
            inbox
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.text == "")
        #expect(try inboxNames() == ["a.txt", "title"])
        #expect(try content("a.txt") == "\r\n--\r\n")
        #expect(try content("title") == "Holiday")
        let modes = try await shell(
            #"umask 027; "$sluice" decode --boundary B "$1" --into "$2"; stat -c %a "$2" "$2"/*"#,
            "\(directory.path)/body",
            "\(inbox)2"
        )
        #expect(modes.text == "750\n640\n640\n")
    }

    @Test(arguments: [
        ("../../etc/passwd", "passwd"), ("/etc/passwd", "passwd"), (#"C:\fakepath\a.txt"#, "a.txt"), ("..", "unnamed"),
        (".bashrc", "bashrc"), ("-rf", "_-rf"), ("a\u{202E}gpj.exe", "agpj.exe"), ("CON", "_CON"), ("", "f"),
        ("a/", "a"), ("x|y", "x_y"),
    ])
    func `A filename leads nowhere else`(filename: String, expected: String) async throws {
        let run = try await decode(SampleBody.body(SampleBody.file(filename)), "--into", inbox)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try inboxNames() == [expected])
        #expect(try Files.names(in: directory.path) == ["body", "in"])
    }

    @Test func `Files of one name in one body are kept apart`() async throws {
        let run = try await decode(
            SampleBody.body(
                SampleBody.file("a.txt", "1"),
                SampleBody.file("a.txt", "2"),
                SampleBody.file("a-2.txt", "3"),
                SampleBody.file("A.TXT", "4"),
                SampleBody.field("x", "5"),
                SampleBody.field("x", "6")
            ),
            "--into",
            inbox
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(try inboxNames() == ["A-3.TXT", "a-2-2.txt", "a-2.txt", "a.txt", "x", "x-2"])
        #expect(try content("a-2.txt") == "2")
        #expect(try content("a-2-2.txt") == "3")
    }

    @Test func `A file that is there is replaced with --force only, and then all of them are`() async throws {
        let body = SampleBody.body(SampleBody.file("new", "1"), SampleBody.file("old", "2"))
        let outside = try directory.file("outside", Array("outside".utf8))
        _ = try await shell(#"mkdir "$1"; echo old > "$1/old"; ln -s "$2" "$1/new""#, inbox, outside)
        let refused = try await decode(body, "--into", inbox)
        #expect(refused.status == 73)
        #expect(refused.errors.contains("\(inbox)/new: is there already; --force replaces it"))
        #expect(try content("old") == "old\n")
        #expect(try inboxNames() == ["new", "old"])
        let forced = try await decode(body, "--into", inbox, "--force")
        #expect(forced.status == 0, "\(forced.errors)")
        #expect(try content("old") == "2")
        #expect(try content("new") == "1")
        #expect(try inboxNames() == ["new", "old"])
        #expect(try TemporaryDirectory.contents(ofFile: outside) == Array("outside".utf8))
    }

    @Test func `A directory is not replaced, and nothing else then`() async throws {
        _ = try await shell(#"mkdir -p "$1/b"; echo old > "$1/a""#, inbox)
        let body = SampleBody.body(SampleBody.file("a", "1"), SampleBody.file("b", "2"), SampleBody.file("c", "3"))
        let run = try await decode(body, "--into", inbox, "--force")
        #expect(run.status == 74)
        #expect(
            run.errors.contains("\(inbox)/b: cannot be written: Is a directory")
                || run.errors.contains("Is a directory")
        )
        #expect(try inboxNames() == ["a", "b"])
        #expect(try content("a") == "old\n")
    }

    // MARK: Refusing

    /// What is wrong with a body, and the offset that has to be told.
    struct Refused: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let body: [UInt8]
        var options: [String] = []
        let message: String
        let offset: Int

        init(_ what: String, _ body: [UInt8], options: [String] = [], _ message: String, at offset: Int) {
            (testDescription, self.body, self.options, self.message, self.offset) = (
                what, body, options, message, offset
            )
        }
    }

    private static let good = SampleBody.file("first.txt", "first")

    static let refused: [Refused] = {
        let start = good.utf8.count
        let cut = Array(SampleBody.body(good, SampleBody.file("b")).prefix(start + 20))
        return [
            Refused("cut off", cut, "the body ends", at: start + 20),
            Refused("no close delimiter", Array(good.utf8), "the body ends", at: start),
            Refused("text before", Array("x".utf8) + SampleBody.body(good), "does not begin with its delimiter", at: 0),
            Refused(
                "a boundary that goes on",
                Array((good + "--Bx\r\n").utf8),
                "a delimiter's line goes on",
                at: start + 3
            ),
            Refused(
                "a part without a name",
                SampleBody.body(good, SampleBody.part("X: y")),
                "form-data",
                at: start + 5
            ),
            Refused(
                "too many parts",
                SampleBody.body(good, good),
                options: ["--max-parts", "1"],
                "more than 1 parts",
                at: start + 5
            ),
            Refused(
                "too long a file",
                SampleBody.body(good, SampleBody.file("b", "123456789")),
                options: ["--max-file", "8"],
                "more than 8 bytes",
                at: start + SampleBody.file("b", "").utf8.count - 2 + 8
            ),
            Refused(
                "too long a field",
                SampleBody.body(good, SampleBody.field("b", "123456789")),
                options: ["--max-field", "8"],
                "more than 8 bytes",
                at: start + SampleBody.field("b", "").utf8.count - 2 + 8
            ),
            Refused(
                "too long a body",
                SampleBody.body(good, good),
                options: ["--max-total", "100"],
                "more than 100 bytes",
                at: 100
            ),
            Refused(
                "too long headers",
                SampleBody.body(good, SampleBody.file(String(repeating: "x", count: 100))),
                options: ["--max-headers", "100"],
                "more than 100 bytes",
                at: start + 5 + 100
            ),
        ]
    }()

    @Test(arguments: refused)
    func `A refused body leaves no file, and the offset is told`(_ example: Refused) async throws {
        let body = try directory.file("body", example.body)
        let arguments = ["decode", "--boundary", "B", body, "--json", "--into"] + [inbox] + example.options
        let run = try await sluice(arguments)
        #expect(run.status == 65)
        #expect(run.text == "")
        #expect(run.errors.contains(example.message), "\(run.errors)")
        #expect(run.errors.contains("(at byte \(example.offset))"), "\(run.errors)")
        // Neither the file that was complete, nor the directory that was made for it.
        #expect(try Files.names(in: directory.path) == ["body"])
        // A directory that was there stays as it was.
        _ = try await shell(#"mkdir "$1"; touch "$1/mine""#, inbox)
        #expect(try await sluice(arguments).status == 65)
        #expect(try inboxNames() == ["mine"])
    }

    @Test func `--lenient takes what others refuse`() async throws {
        let body = Array(
            "preamble\n--B\nContent-Disposition: form-data;\n name=\"a\"\n\nvalue\n--B\n\nunnamed\n--B--\n".utf8
        )
        #expect(try await decode(body, "--json").status == 65)
        let parts = try JSONValue(try await decode(body, "--json", "--lenient").output)
        #expect(parts.map("name") == ["a", nil])
        #expect(parts.array.map { $0["size"].number } == [5, 7])
    }

    @Test(arguments: ["--BX", "--B-", "\n--BX", "x\n--BX", "\r\n--BX", "x\r\n--B--X", "--BX\n--BX\n"])
    func `With --lenient too, files are what was sent`(content: String) async throws {
        let body = SampleBody.body(SampleBody.file("f", content), SampleBody.file("g", "abc"))
        let run = try await decode(body, "--lenient", "--into", inbox)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try self.content("f") == content && self.content("g") == "abc")
    }

    @Test func `A disk that takes no more leaves no file`() async throws {
        let body = SampleBody.body(Self.good, SampleBody.file("large", String(repeating: "x", count: 100_000)))
        let run = try await shell(
            #"trap '' XFSZ; ulimit -f 16; "$sluice" decode --boundary B "$1" --into "$2"; echo $?"#,
            try directory.file("body", body),
            inbox
        )
        #expect(run.text == "74\n")
        #expect(
            run.errors.contains(#"part "f": "#) && run.errors.contains("/large: cannot be written"),
            "\(run.errors)"
        )
        #expect(try Files.names(in: directory.path) == ["body"])
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP], [true, false])
    func `A signal leaves no file, nor a directory that was made for it`(signal: Int32, isNew: Bool) async throws {
        let body = try directory.file("body", SampleBody.body(Self.good, SampleBody.file("b")))
        let pipe = "\(directory.path)/pipe"
        try Files.makeFIFO(pipe)
        if !isNew { try Files.makeDirectory(inbox) }
        let writer = try ToolProcess([
            "/bin/bash", "-c", #"exec 3> "$2"; head -c 150 "$1" >&3; sleep 300"#, "bash", body, pipe,
        ])
        let tool = try ToolProcess([ToolProcess.tool, "decode", "--boundary", "B", "--into", inbox, pipe])
        #expect(await ProcessState.settles(within: 60) { (try? inboxNames().first?.hasPrefix(".sluice-")) == true })
        // Nobody else sees what is not whole yet.
        let staging = try "\(inbox)/\(#require(inboxNames().first))"
        #expect(try Files.mode(staging) == 0o700)
        tool.send(signal)
        #expect(try await tool.outcome().signal == signal)
        #expect(try Files.names(in: directory.path) == (isNew ? ["body", "pipe"] : ["body", "in", "pipe"]))
        if !isNew { #expect(try inboxNames() == []) }
        writer.send(SIGKILL)
        _ = try await writer.outcome()
    }

    @Test func `A body of any size takes the same memory`() async throws {
        let file = try directory.sparseFile("file", size: 200 << 20)
        let pipe = "\(directory.path)/pipe"
        _ = try await shell(#"mkfifo "$1""#, pipe)
        let encode = try ToolProcess([ToolProcess.tool, "encode", "--boundary", "B", "-F", "a=@\(file)", "-o", pipe])
        let run = try await sluice("decode", "--boundary", "B", "--into", inbox, pipe)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.peakMemory < 32 * 1024)
        #expect(try await encode.outcome().status == 0)
        #expect(try await shell(#"cmp "$1" "$2""#, file, "\(inbox)/file").status == 0)
    }
}

extension String {
    /// Where each occurrence of a text ends, in bytes.
    fileprivate func utf8Offsets(behind text: String) -> [Int] {
        let (bytes, wanted) = (Array(utf8), Array(text.utf8))
        return bytes.indices.filter { bytes[$0...].starts(with: wanted) }.map { $0 + wanted.count }
    }
}
