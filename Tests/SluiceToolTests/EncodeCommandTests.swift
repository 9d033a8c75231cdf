import SluiceTestSupport
import Testing

@testable import SluiceTool

@Suite struct EncodeCommandTests {
    private let directory: TemporaryDirectory
    private let file: String

    init() throws {
        directory = try TemporaryDirectory()
        file = try directory.file("a.txt", Array("content\n".utf8))
    }

    private var expected: String {
        """
        --B\r
        Content-Disposition: form-data; name="title"\r
        \r
        Holiday\r
        --B\r
        Content-Disposition: form-data; name="file"; filename="a.txt"\r
        Content-Type: text/plain\r
        \r
        content
        \r
        --B--\r

        """
    }

    private var form: [String] { ["--boundary", "B", "-F", "title=Holiday", "-F", "file=@\(file)"] }

    // MARK: Where it goes

    @Test func `The body goes to standard output`() async throws {
        let run = try await sluice(["encode"] + form)
        #expect(run.status == 0)
        #expect(run.text == expected)
        #expect(run.errors == "")
    }

    @Test(arguments: ["-o", "--output"])
    func `The body goes to a file`(option: String) async throws {
        let output = "\(directory.path)/body"
        let run = try await sluice(["encode"] + form + [option, output])
        #expect(run.status == 0)
        #expect(run.output == [])
        #expect(try TemporaryDirectory.contents(ofFile: output) == Array(expected.utf8))
        #expect(try names() == ["a.txt", "body"])
    }

    @Test func `The body goes through pipes`() async throws {
        let run = try await shell(
            #"mkfifo "$1/pipe"; cat "$1/pipe" & "$sluice" encode --boundary B -F "file=@$2" -o "$1/pipe"; wait"#,
            directory.path,
            file
        )
        let direct = try await sluice("encode", "--boundary", "B", "-F", "file=@\(file)", "-o", "-")
        #expect(run.status == 0)
        #expect(run.output == direct.output)
        #expect(try await shell(#""$sluice" encode --boundary B -F "file=@$1" | cat"#, file).output == direct.output)
        #expect(try await shell(#""$sluice" encode --boundary B -F "file=@$1" -o /dev/null"#, file).status == 0)
    }

    @Test func `Standard input is a part, from a pipe or a file`() async throws {
        let piped = try await shell(#"printf 'x\ny' | "$sluice" encode --boundary B -F 'a=@-;filename=n.bin' -F 'b=c'"#)
        #expect(
            piped.text.contains("filename=\"n.bin\"\r\nContent-Type: application/octet-stream\r\n\r\nx\ny\r\n--B\r\n")
        )
        let redirected = try await sluice("encode", "--boundary", "B", "-F", "a=<-", "--print-length", input: file)
        #expect(redirected.text == "66\n")
        let pipe = try await shell(#"printf x | "$sluice" encode -F 'a=<-' --print-length --print-content-type"#)
        #expect(pipe.text.hasSuffix("\nunknown\n"))
        let twice = try await sluice("encode", "-F", "a=@-", "-F", "b=<-")
        #expect(twice.status == 64)
    }

    // MARK: What is printed

    @Test func `Only what was asked for is printed`() async throws {
        let run = try await sluice(["encode", "--print-length", "--print-content-type"] + form)
        #expect(run.text == "multipart/form-data; boundary=B\n\(expected.utf8.count)\n")
        let length = try await sluice(["encode", "--print-length"] + form)
        #expect(length.text == "\(expected.utf8.count)\n")
    }

    @Test func `What is printed belongs to the body that is written`() async throws {
        let output = "\(directory.path)/body"
        let run = try await sluice("encode", "-F", "a=b", "-o", output, "--print-content-type", "--print-length")
        let body = try TemporaryDirectory.contents(ofFile: output)
        let lines = run.text.split(separator: "\n")
        let boundary = try #require(lines.first?.split(separator: "boundary=").last)
        #expect(String(decoding: body, as: UTF8.self).hasPrefix("--\(boundary)\r\n"))
        #expect(lines.last == "\(body.count)")
        let mixed = try await sluice("encode", "-F", "a=b", "-o", "-", "--print-length")
        #expect(mixed.status == 64)
    }

    @Test(arguments: [
        (["--subtype", "mixed"], "multipart/mixed; boundary=B"),
        (["--subtype", "MIXED"], "multipart/mixed; boundary=B"),
        (["--boundary", "a b"], #"multipart/form-data; boundary="a b""#),
    ])
    func `The type says what was asked for`(options: [String], type: String) async throws {
        let run = try await sluice(["encode", "--boundary", "B", "-F", "a=b", "--print-content-type"] + options)
        #expect(run.text == "\(type)\n")
    }

    @Test(arguments: [
        (["--escape", "percent"], #"name="a%22\b""#), (["--escape=html"], #"name="a%22\b""#),
        (["--escape", "backslash"], #"name="a\"\\b""#), (["--form-escape"], #"name="a\"\\b""#),
    ])
    func `Names are escaped as asked`(options: [String], disposition: String) async throws {
        let run = try await sluice(["encode", "-F", #"a"\b=c"#] + options)
        #expect(run.text.contains(disposition))
    }

    // MARK: Files in the way

    @Test func `A file is replaced whole, with its mode and its links`() async throws {
        let output = try directory.file("body", Array("old".utf8))
        let run = try await shell(
            #"chmod 640 "$1/body"; ln -s body "$1/link"; "$sluice" encode --boundary B -F a=b -o "$1/link" && stat -c '%a %F' "$1/body" "$1/link""#,
            directory.path
        )
        #expect(run.text == "640 regular file\n777 symbolic link\n")
        #expect(try TemporaryDirectory.contents(ofFile: output).starts(with: Array("--B\r\n".utf8)))
        #expect(try names() == ["a.txt", "body", "link"])
    }

    @Test func `A new file has the mode that the umask leaves`() async throws {
        let run = try await shell(
            #"umask 027; "$sluice" encode -F a=b -o "$1/body" && stat -c %a "$1/body""#,
            directory.path
        )
        #expect(run.text == "640\n")
    }

    @Test func `A failure leaves the old file whole and nothing else behind`() async throws {
        let output = try directory.file("body", Array("old".utf8))
        // Opens, and cannot be read at its beginning.
        let run = try await sluice("encode", "-F", "a=@\(file)", "-F", "b=@/proc/self/mem", "-o", output)
        #expect(run.status == 74)
        #expect(run.errors.contains(#"part "b": /proc/self/mem: reading failed"#))
        #expect(try TemporaryDirectory.contents(ofFile: output) == Array("old".utf8))
        #expect(try names() == ["a.txt", "body"])
    }

    @Test func `A signal leaves the old file whole and nothing else behind`() async throws {
        let output = try directory.file("body", Array("old".utf8))
        let run = try await shell(
            #"mkfifo "$1/in"; sleep 5 > "$1/in" & "$sluice" encode -F "a=@$1/in" -o "$1/body" & tool=$!"#
                + #"; while ! ls -A "$1" | grep -q ^.sluice-; do sleep 0.02; done; kill -TERM $tool; wait $tool; echo $?; kill %1"#,
            directory.path
        )
        #expect(run.text == "143\n")
        #expect(try TemporaryDirectory.contents(ofFile: output) == Array("old".utf8))
        #expect(try names() == ["a.txt", "body", "in"])
    }

    @Test func `A part's own file is not written to`() async throws {
        let script = #"cd "$1"; ln a.txt hard; ln -s a.txt soft; for f in a.txt hard soft; do "#
        let run = try await shell(
            script + #""$sluice" encode -F a=@a.txt -o $f; echo $?; "$sluice" encode -F a=@a.txt >> $f; echo $?; "#
                + #""$sluice" encode -F a=@- -o $f < a.txt; echo $?; done"#,
            directory.path
        )
        #expect(run.text == String(repeating: "64\n", count: 9))
        #expect(try TemporaryDirectory.contents(ofFile: file) == Array("content\n".utf8))
    }

    @Test func `A reader that goes away ends the tool quietly`() async throws {
        let big = try directory.sparseFile("big", size: 1 << 30)
        let run = try await shell(#""$sluice" encode -F "a=@$1" | head -c 2; echo "${PIPESTATUS[0]}""#, big)
        #expect(run.text == "--141\n")
        #expect(run.errors == "")
        let ignoring = try await shell(
            #"trap '' PIPE; "$sluice" encode -F "a=@$1" | head -c 2; echo "${PIPESTATUS[0]}""#,
            big
        )
        #expect(ignoring.text == "--74\n")
        #expect(ignoring.errors.hasPrefix("sluice: standard output: "))
    }

    @Test func `A closed standard output is an error and no trap`() async throws {
        let run = try await shell(#""$sluice" encode -F "a=@$1" >&-; echo $?; "$sluice" --version >&-; echo $?"#, file)
        #expect(run.text == "74\n74\n")
        let file = try await shell(#""$sluice" encode -F a=b -o "$1/body" >&- 2>&-; echo $?"#, directory.path)
        #expect(file.text == "0\n")
    }

    // MARK: Other people's parsers

    @Test func `Three parsers read back what was given`() async throws {
        let noise = try directory.file("noise.bin", TemporaryDirectory.noise(300_000))
        let output = "\(directory.path)/body"
        let run = try await sluice(
            "encode",
            "-o",
            output,
            "--print-content-type",
            "-F",
            "title=Högtid",
            "-F",
            "file=@\(file);type=text/csv",
            "-F",
            "noise=@\(noise);filename=n ö.bin",
            "--form-string",
            "raw=@x;type=y"
        )
        let type = String(run.text.dropLast())
        let request = try directory.file("request", Array(#"{"path": "\#(output)", "contentType": "\#(type)"}"#.utf8))
        let parsed = try await ToolProcess([ServerProcess.python, ServerProcess.interop("parse.py")], input: request)
            .outcome()
        let results = try JSONValue(parsed.output)
        let digests = [
            try sha256("Högtid"), try ChildProcess.sha256(ofFile: file), try ChildProcess.sha256(ofFile: noise),
            try sha256("@x;type=y"),
        ]
        for parser in ["aiohttp", "werkzeug", "email"] {
            let parts = results[parser]
            #expect(parts.map("name") == ["title", "file", "noise", "raw"], "\(parser)")
            #expect(parts.map("filename") == [nil, "a.txt", "n ö.bin", nil], "\(parser)")
            #expect(parts.map("sha256") == digests, "\(parser)")
        }
    }

    // MARK: Helpers

    private func names() throws -> [String] {
        try Files.names(in: directory.path)
    }

    private func sha256(_ text: String) throws -> String {
        try ChildProcess.sha256(ofFile: try directory.file("digest", Array(text.utf8)))
    }
}
