import SluiceTestSupport
import Testing

@testable import SluiceTool

/// The tool on a terminal, as `Tests/Interop/terminal.py` makes one.
@Suite struct TerminalTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func onTerminal(_ options: [String], _ arguments: [String]) async throws -> JSONValue {
        let command =
            [ServerProcess.python, ServerProcess.interop("terminal.py")] + options + ["--", ToolProcess.tool]
        let run = try await ToolProcess(command + arguments).outcome()
        return try JSONValue(run.output)
    }

    private func slowServer() throws -> ServerProcess {
        try ServerProcess("raw_server.py", "--mode", "slow-read", "--rate", "20000000")
    }

    @Test func `The bar is drawn in place, and its last line stays`() async throws {
        let server = try slowServer()
        let file = try directory.sparseFile("big", size: 20_000_000)
        let facts = try await onTerminal(
            ["--columns", "100"],
            ["upload", server.url("/"), "-F", "video=@\(file)"]
        )
        #expect(facts["status"].number == 0)
        #expect(facts["output"].string?.contains("sha256") == true)
        let screen = try #require(facts["screen"].string)
        #expect(screen.hasSuffix("\r\n"))
        let frames = screen.dropLast().split(separator: "\u{1B}[K").flatMap { $0.split(separator: "\r") }
        #expect(frames.count > 4)
        #expect(frames.allSatisfy { $0.count <= 99 })
        #expect(frames.first?.hasPrefix("  0%  [") == true)
        #expect(frames.last?.hasPrefix("100%  [=") == true)
        #expect(frames.dropFirst(2).first?.contains(#"MiB/s  ETA    0:0"#) == true)
        #expect(frames.dropFirst(2).first?.contains(#""video""#) == true)
    }

    @Test func `The bar follows the terminal's width`() async throws {
        let server = try slowServer()
        let file = try directory.sparseFile("big", size: 20_000_000)
        let facts = try await onTerminal(
            ["--columns", "100", "--resize", "30", "--term", "dumb"],
            ["upload", server.url("/"), "-F", "video=@\(file)"]
        )
        let frames = try #require(facts["screen"].string).split(separator: "\r")
        #expect(frames.first?.count ?? 0 > 29)
        #expect(frames.dropFirst(4).allSatisfy { $0.count <= 29 })
    }

    @Test(arguments: [("xterm", "\r\u{1B}[K\r"), ("dumb", "\r" + String(repeating: " ", count: 99) + "\r")])
    func `Ctrl-C takes the bar away`(terminal: String, end: String) async throws {
        let server = try slowServer()
        let file = try directory.sparseFile("big", size: 1 << 30)
        let facts = try await onTerminal(
            ["--when", "MiB/s", #"\x03"#, "--term", terminal],
            ["upload", server.url("/"), "-F", "a-rather-long-name=@\(file)"]
        )
        #expect(facts["signal"].number == 2)
        #expect(facts["screen"].string?.hasSuffix(end) == true)
    }

    @Test func `An error takes the bar away`() async throws {
        let server = try ServerProcess("raw_server.py", "--mode", "reset-early", "--after", "5000000")
        let file = try directory.sparseFile("big", size: 1 << 30)
        let facts = try await onTerminal([], ["upload", server.url("/"), "-F", "video=@\(file)"])
        #expect(facts["status"].number == 74)
        let lines = try #require(facts["screen"].string).split(separator: "\r\n")
        #expect(lines.count == 1)
        #expect(lines.last?.split(separator: "\r\u{1B}[K\r").last?.hasPrefix("sluice: ") == true)
    }

    @Test func `Several transfers have one bar, and what is said stands above it`() async throws {
        let server = try await FaultServer()
        let (first, second) = (server.place("503/0").file, server.place().file)
        let facts = try await onTerminal(
            ["--columns", "100"],
            ["download", first, "-o", "\(directory.path)/1", "--retry", "1", "--parallel", "2"]
                + ["--next", second, "-o", "\(directory.path)/2", "--limit-rate", "500K"]
                + ["--next", UploadServers.refusing, "-o", "\(directory.path)/3"]
        )
        #expect(facts["status"].number == 69)
        let lines = try #require(facts["screen"].string).split(separator: "\r\n")
            .map { $0.split(separator: "\r").last.map { $0.replacing("\u{1B}[K", with: "") } ?? "" }
        #expect(lines.count == 4)
        #expect(lines.first?.hasPrefix("sluice: transfer 1: the server answered 503; trying again in ") == true)
        #expect(lines.dropFirst().first?.hasPrefix("sluice: transfer 3: ") == true)
        #expect(lines.dropFirst(2).first?.hasSuffix("2 of 3 done, 1 failed") == true)
        #expect(lines.last == "sluice: 1 of 3 transfers failed")
        // With a transfer that did not come to its length there is no total, and so no percentage.
        #expect(lines.dropFirst(2).first?.hasPrefix("[") == true)
    }

    @Test func `A download that goes on says from where`() async throws {
        let server = try await FaultServer()
        let place = server.place("close@400000")
        let target = "\(directory.path)/file"
        #expect(try await sluice("download", place.file, "-o", target).status == 74)
        let facts = try await onTerminal(["--columns", "100"], ["download", place.file, "-o", target, "-C"])
        #expect(facts["status"].number == 0)
        let frames = try #require(facts["screen"].string).dropLast().split(separator: "\r")
        #expect(frames.first?.hasPrefix(" 39%  [") == true || frames.dropFirst().first?.hasPrefix(" 39%  [") == true)
        #expect(frames.last?.hasPrefix("100%  [=") == true)
        #expect(frames.last?.contains("  from 391 KiB") == true)
    }

    @Test func `A file does not come to the terminal unasked`() async throws {
        let url = try UploadServers.url("/echo-headers")
        let script = #"exec "$0" download "$1" "${@:2}" > /dev/tty"#
        func status(_ options: [String]) async throws -> Double? {
            let command = [ServerProcess.python, ServerProcess.interop("terminal.py"), "--", "bash", "-c", script]
            return try JSONValue(try await ToolProcess(command + [ToolProcess.tool, url] + options).outcome().output)[
                "status"
            ]
            .number
        }
        #expect(try await status([]) == 64)
        #expect(try await status(["-o", "-"]) == 0)
    }

    @Test func `A body is typed only where that is asked for`() async throws {
        // A terminal turns the CR of a line's end into LF.
        let body = #"--B\nContent-Disposition: form-data; name=\"typed\"\n\nhello\n--B--\n\x04"#
        func decode(_ operands: String...) async throws -> JSONValue {
            try await onTerminal(
                ["--when", "", body],
                ["decode", "--boundary", "B", "--lenient", "--json"] + operands
            )
        }
        let typed = try await decode("-")
        #expect(typed["status"].number == 0)
        #expect(try JSONValue(Array((typed["output"].string ?? "").utf8)).map("name") == ["typed"])
        let unasked = try await decode()
        #expect(unasked["status"].number == 64)
        #expect(unasked["screen"].string?.contains("give a FILE, or - to type it") == true)
    }

    @Test func `A proxy's password is asked for as such`() async throws {
        let facts = try await onTerminal(
            ["--when", "Password for user at the proxy: ", #"pass\n"#],
            ["upload", "http://127.0.0.1/", "-F", "a=b", "-x", UploadServers.refusing, "-U", "user"]
        )
        #expect(facts["status"].number == 69)
        #expect(facts["echoed"].array.map(\.number) == [0])
    }

    @Test func `Verbose lines do not land in the bar`() async throws {
        let url = try UploadServers.url("/upload")
        let facts = try await onTerminal([], ["upload", url, "-v", "-F", "a=b"])
        for line in try #require(facts["screen"].string).split(separator: "\r\n") {
            let shown = line.split(separator: "\r").last ?? ""
            #expect(["* ", "> ", "< ", "100%"].contains { shown.hasPrefix($0) }, "\(shown)")
        }
    }

    @Test func `A password is asked for without showing it`() async throws {
        let url = try UploadServers.url("/basic?drain=1")
        let facts = try await onTerminal(
            ["--when", "Password for user: ", #"pass\n"#],
            ["upload", url, "--progress", "none", "-f", "-u", "user", "-F", "a=b"]
        )
        #expect(facts["status"].number == 0)
        #expect(facts["screen"].string == "Password for user: \r\n")
        #expect(facts["echoed"].array.map(\.number) == [0])
        #expect(facts["echo"].number == 1)
    }

    @Test func `Ctrl-C at the password gives the terminal its echo back`() async throws {
        let facts = try await onTerminal(
            ["--when", "Password", #"\x03"#],
            ["upload", "http://127.0.0.1:1/", "-u", "user", "-F", "a=b"]
        )
        #expect(facts["signal"].number == 2)
        #expect(facts["echo"].number == 1)
    }
}
