import SluiceTestSupport
import Testing

/// What curl asks is what sluice asks, but for who it says it is.
@Suite(.timeLimit(.minutes(3))) struct RequestDifferenceTests {
    /// Arguments that both programs are given.
    static let table: [[String]] = [
        [],
        ["-H", "X-A: b", "-H", "X-A: c", "-H", "X-Empty;"],
        ["-H", "Accept: text/x", "-H", "Host: example.com:8080"],
        ["-H", "User-Agent: me"],
        ["-u", "user:pass:word"],
        ["-u", "ä:"],
        ["--oauth2-bearer", "abc.def"],
        ["--http1.1"],
        ["--http2"],
        ["-L", "--max-redirs", "3"],
        ["--retry", "2", "--retry-max-time", "9", "--retry-delay", "1"],
        ["--limit-rate", "1M"],
        ["-m", "20", "--connect-timeout", "5"],
        ["--noproxy", "*", "--proxy", "http://proxy.invalid/"],
        ["--cacert", "/dev/null", "-k"],
    ]

    @Test(arguments: ["upload", "download"]) func `Both programs send the same head`(command: String) async throws {
        let directory = try TemporaryDirectory()
        let recordings = "\(directory.path)/recordings"
        let server = try ServerProcess("raw_server.py", "--mode", "record", "--record", recordings)
        let form = command == "upload" ? ["-F", "a=b"] : []
        let methods = command == "upload" ? [["-X", "PUT"], ["-X", "PATCH"], ["-H", "Expect: 100-continue"]] : []
        var count = 0
        for arguments in Self.table + methods {
            for program in [["curl", "-sS"], [ToolProcess.tool, command, "--progress", "none"]] {
                let run = try await ToolProcess(program + [server.url("/a/b?c#d")] + form + arguments).outcome()
                #expect(run.status == 0, "\(arguments): \(run.errors)")
            }
            let heads = try [count + 1, count + 2].map { try Self.head(ofRecording: "\(recordings)/request-\($0).bin") }
            #expect(heads[0] == heads[1], "\(arguments)")
            count += 2
        }
    }

    /// A request's first line and its fields, sorted, without what has to differ.
    private static func head(ofRecording path: String) throws -> [String] {
        let request = try TemporaryDirectory.contents(ofFile: path)
        let head = request.firstRange(of: Array("\r\n\r\n".utf8)).map { request[..<$0.lowerBound] } ?? []
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n").map(String.init)
        let differing = ["user-agent: curl/", "user-agent: sluice/", "content-length: "]
        let kept = lines.dropFirst().filter { line in !differing.contains { line.lowercased().hasPrefix($0) } }
        let withoutBoundaries = kept.map { line in
            line.firstRange(of: "boundary=").map { String(line[..<$0.upperBound]) } ?? line
        }
        return lines.prefix(1) + withoutBoundaries.sorted()
    }
}
