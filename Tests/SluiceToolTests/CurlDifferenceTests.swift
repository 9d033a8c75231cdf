import SluiceTestSupport
import Testing

/// What curl sends is what sluice sends, but for the boundaries.
@Suite struct CurlDifferenceTests {
    /// Arguments that both programs are given.
    static let table: [[String]] = [
        // Fields.
        ["-F", "a=b"],
        ["-F", "a="],
        ["-F", "a= b\t "],
        ["-F", #"a=" b ""#],
        ["-F", #"a="b;c""#],
        ["-F", #"a="b\"c\\d\e""#],
        ["-F", #"a="b"#],
        ["-F", #"a="b\"c"#],
        ["-F", "a=b,c"],
        ["-F", "a==b"],
        ["-F", "a=)"],
        ["-F", #"a="(b)""#],
        ["-F", #"a="@b""#],
        ["-F", "a=b\nc\r\nd\re"],
        ["-F", "a=ö", "-F", "ä=日本"],
        ["-F", " a =b"],
        ["-F", #"a"\b;c=d"#],
        ["-F", "a=b;type=text/x"],
        ["-F", "a=b; TYPE= text/html; charset=utf-8 "],
        ["-F", #"a="x" ;type=text/html;charset="utf-8""#],
        ["-F", "a=b;type=text/plain"],
        ["-F", "a=b;;type=text/x"],
        ["-F", "a=b;"],
        ["-F", "a=b;filename=x.txt"],
        ["-F", "a=b;filename=x.dat"],
        ["-F", "a=b;filename="],
        ["-F", #"a=b;filename="q;r\"s\\t";type=text/x"#],
        ["-F", "a=b;type=text/a;filename=x;type=text/b"],
        ["-F", #"a=b;headers="X-A: b;c";headers=X-D: e"#],
        ["-F", "a=b;headers=@headers"],
        ["-F", "a=b;headers=Content-Type: text/q"],
        ["-F", "a=b;headers=content-type: text/q;type=text/r"],
        ["--form-string", #"a=@b;type=text/x"c" "#],
        ["--form-string", "a=", "--form-string", "b=<c"],
        // Files.
        ["-F", "a=@a.txt"],
        ["-F", "a=@p.html"],
        ["-F", "a=@noextension"],
        ["-F", "a=@image.PNG"],
        ["-F", "a=@empty.pdf"],
        ["-F", "a=@./a.txt;filename=dir/x.y"],
        ["-F", "a=@ a.txt ; type= text/html ; filename= \"q;r\" "],
        ["-F", "a=@a.txt;filename="],
        ["-F", "a=@a.txt;filename=x.gif"],
        ["-F", "a=@a.txt;filename=b\nc"],
        ["-F", #"a=@"odd,na;me\".txt""#],
        ["-F", #"a=@a.txt;filename="ö\"\\.txt""#],
        ["-F", "a=@a.txt;type=text/plain;type=x"],
        ["-F", "a=@a.txt;headers=X-A: b"],
        ["-F", "a=@noise.bin;type=application/octet-stream", "-F", "b=c", "-F", "a=@a.txt"],
        // Content of files.
        ["-F", "a=<a.txt"],
        ["-F", "a=<p.html"],
        ["-F", "a=<image.PNG"],
        ["-F", "a=<noextension;type=text/x; y=z"],
        ["-F", "a=<empty.pdf;headers=X-A: b"],
        ["-F", "a=<-"],
        ["-F", "a=@-;type=text/x"],
        ["-F", "a=@-;filename=x.txt"],
        // Groups.
        ["-F", "a=(", "-F", "=b", "-F", "=@a.txt", "-F", "=)", "-F", "c=d"],
        ["-F", "a=(;type=multipart/alternative", "-F", "=plain", "-F", "= <p>;type=text/html", "-F", "=)"],
        ["-F", "a=(;headers=X-A: b", "-F", "n=v", "-F", "=@a.txt;type=text/x;filename=q", "-F", "=)"],
        ["-F", "a=(", "-F", "=(;type=multipart/digest", "-F", "=b", "-F", "=)", "-F", "=c", "-F", "=)"],
        ["-F", "a=(", "-F", "=b"],
        ["-F", "a=(", "-F", "=)"],
        ["-F", "a=(;type=multipart/form-data", "-F", "b=c", "-F", "d=@a.txt", "-F", "=)"],
        // curl's other escaping.
        ["--form-escape", "-F", #"a"\b=@a.txt;filename="c\"\\d""#],
    ]

    @Test(.enabled(if: hasCurl)) func `Both programs send the same body`() async throws {
        let directory = try Self.files()
        let recordings = "\(directory.path)/recordings"
        let server = try ServerProcess("raw_server.py", "--mode", "record", "--record", recordings)
        var count = 0
        for arguments in Self.table {
            for program in [["curl", "-sS"], [ToolProcess.tool, "upload", "--progress", "none"]] {
                let command = ["bash", "-c", #"cd "$0" && exec "$@" < a.txt"#, directory.path] + program
                let run = try await ToolProcess(command + [server.url("/")] + arguments).outcome()
                #expect(run.status == 0, "\(arguments): \(run.errors)")
            }
            let bodies = try [count + 1, count + 2].map {
                try Self.body(ofRecording: "\(recordings)/request-\($0).bin")
            }
            #expect(bodies[0] == bodies[1], "\(arguments)")
            count += 2
        }
    }

    private static let hasCurl = (try? ChildProcess.firstLine(of: "curl", "--version"))?.hasPrefix("curl ") == true

    private static func files() throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        for (name, content) in [
            ("a.txt", "hello\n"), ("p.html", "<p>"), ("noextension", "x"), ("image.PNG", "\u{1}\r\n--"),
            ("empty.pdf", ""),
            (#"odd,na;me".txt"#, "odd"),
            ("headers", "# A comment\nX-A: b\r\n\nX-C: d,\n  e \n"),
        ] {
            try directory.file(name, Array(content.utf8))
        }
        try directory.file("noise.bin", TemporaryDirectory.noise(700_000))
        return directory
    }

    // MARK: Boundaries

    /// A request's body, with its boundaries replaced by numbers in the order of their declarations.
    private static func body(ofRecording path: String) throws -> [UInt8] {
        let request = try TemporaryDirectory.contents(ofFile: path)
        let head = request.firstRange(of: Array("\r\n\r\n".utf8)) ?? 0..<0
        let type = request[..<head.lowerBound].firstRange(of: Array("boundary=".utf8)) ?? 0..<0
        var result = Array(request[head.upperBound...])
        var boundary = request[type.upperBound...].prefix { $0 != 0x0D }
        var number = 0
        while !boundary.isEmpty {
            let name = Array("BOUNDARY-\(number)".utf8)
            result.replace(Array(boundary), with: name)
            number += 1
            // The next declaration is the next one that has no name yet.
            let declared = result.ranges(of: Array("; boundary=".utf8)).map {
                result[$0.upperBound...].prefix { $0 != 0x0D }
            }
            boundary = declared.first { !$0.starts(with: Array("BOUNDARY-".utf8)) } ?? []
        }
        return result
    }
}
