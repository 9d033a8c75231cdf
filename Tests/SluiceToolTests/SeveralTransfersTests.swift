import SluiceTestSupport
import Testing

/// Transfers that are given with `--next`.
@Suite(.timeLimit(.minutes(5))) struct SeveralTransfersTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func output(_ name: String) throws -> String {
        String(decoding: try TemporaryDirectory.contents(ofFile: "\(directory.path)/\(name)"), as: UTF8.self)
    }

    @Test(arguments: ["1", "3"]) func `Each has its own form, options and answer`(parallel: String) async throws {
        let url = try UploadServers.url("/upload")
        let run = try await sluice(
            [
                "upload", url, "-F", "a=1", "-H", "X-A: b", "-o", "\(directory.path)/1", "--parallel", parallel,
                "--next",
                "-X", "PUT", "-F", "b=2", url, "-o", "\(directory.path)/2", "--progress", "none", "--next", url, "-F",
                "c=3",
            ]
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors == "")
        let answers = try [
            JSONValue(Array(output("1").utf8)), JSONValue(Array(output("2").utf8)), JSONValue(run.output),
        ]
        #expect(answers.map { $0["method"].string } == ["POST", "PUT", "POST"])
        #expect(answers.map { $0["parts"].map("name") } == [["a"], ["b"], ["c"]])
        let headers = answers.map { $0["headers"].array.map { $0.array.map(\.string) } }
        #expect(headers.map { $0.contains(["X-A", "b"]) } == [true, false, false])
    }

    @Test func `As many run at the same time as asked for, and no more`() async throws {
        let url = try UploadServers.url("/slow-response?seconds=1")
        func seconds(_ parallel: Int, _ count: Int) async throws -> Double {
            let group = ["--next", url, "-F", "a=b"]
            let groups = Array((0..<count).map { _ in group }.joined().dropFirst())
            let start = SuspendingClock.now
            let run = try await sluice(["upload", "--parallel", "\(parallel)", "--progress", "none"] + groups)
            #expect(run.text == String(repeating: "slow\n", count: count))
            return (SuspendingClock.now - start) / .seconds(1)
        }
        let serial = try await seconds(1, 3)
        let parallel = try await seconds(40, 40)
        let two = try await seconds(2, 4)
        #expect(serial > 3)
        #expect(two > 2)
        // One after the other they would take forty.
        #expect(parallel < 35)
    }

    @Test(arguments: ["1", "2"]) func `One that fails does not stop the others`(parallel: String) async throws {
        let url = try UploadServers.url("/discard")
        let failing = try UploadServers.url("/status/500?drain=1")
        let arguments = [
            "upload", url, "-F", "a=1", "--next", UploadServers.refusing, "-F", "a=1", "--next", failing, "-f", "-F",
            "a=1",
            "--next", url, "-F", "a=1", "--parallel", parallel, "--progress", "none",
        ]
        let run = try await sluice(arguments)
        // The status of the first that failed.
        #expect(run.status == 69)
        #expect(run.text.split(separator: "}").count == 2)
        let lines = Set(run.errors.split(separator: "\n").map { $0.prefix { $0 != "(" } })
        #expect(lines.contains("sluice: transfer 3: HTTP 500 Internal Server Error"))
        #expect(lines.contains { $0.hasPrefix("sluice: transfer 2: http://127.0.0.1:1/: nobody accepts") })
        #expect(run.errors.hasSuffix("\nsluice: 2 of 4 transfers failed\n"))
        #expect(lines.count == 3)
    }

    @Test func `With --fail-early the first that fails ends all`() async throws {
        let stalling = try ServerProcess("raw_server.py", "--mode", "stall")
        let url = try UploadServers.url("/discard")
        let run = try await sluice(
            "upload",
            stalling.url("/"),
            "-F",
            "a=1",
            "--next",
            UploadServers.refusing,
            "-F",
            "a=1",
            "--next",
            url,
            "-F",
            "a=1",
            "--parallel",
            "2",
            "--fail-early",
            "--progress",
            "none"
        )
        #expect(run.status == 69)
        #expect(run.output == [])
        #expect(run.errors.split(separator: "\n").count == 2)
        #expect(run.errors.hasSuffix("\nsluice: 1 of 3 transfers failed\n"))
    }

    @Test func `Nothing is sent where something is wrong with any of them`() async throws {
        let recordings = "\(directory.path)/recordings"
        let server = try ServerProcess("raw_server.py", "--mode", "record", "--record", recordings)
        let run = try await sluice(
            "upload",
            server.url("/"),
            "-F",
            "a=b",
            "--next",
            server.url("/"),
            "-F",
            "a=@/nonexistent"
        )
        #expect(run.status == 66)
        #expect(run.errors.hasPrefix(#"sluice: transfer 2: part "a": /nonexistent: "#))
        #expect(try Files.names(in: recordings).isEmpty)
    }

    @Test func `Lines of JSON say which transfer they are about`() async throws {
        let server = try await FaultServer()
        let run = try await sluice(
            "download",
            server.place("503/0").file,
            "-o",
            "\(directory.path)/1",
            "--retry",
            "1",
            "--next",
            server.place().file,
            "-o",
            "\(directory.path)/2",
            "--parallel",
            "2",
            "--progress",
            "json"
        )
        #expect(run.status == 0)
        let reports = try run.errors.split(separator: "\n").map { try JSONValue(Array($0.utf8)) }
        #expect(Set(reports.compactMap { $0["transfer"].number }) == [1, 2])
        let ends = reports.filter { $0["finished"].number == 1 }
        #expect(ends.map { $0["completed"].number } == [1_000_003, 1_000_003])
        let retry = try #require(reports.first { $0["finished"].isNull })
        #expect(retry["transfer"].number == 1)
        #expect(retry["retrying"]["attempt"].number == 2)
        #expect(retry["retrying"]["reason"].string == "the server answered 503")
    }

    @Test func `Plain lines are about all of them`() async throws {
        let server = try await FaultServer()
        let run = try await sluice(
            "download",
            server.place("close@10").file,
            "-o",
            "\(directory.path)/1",
            "--next",
            server.place().file,
            "-o",
            "\(directory.path)/2"
        )
        #expect(run.status == 74)
        let last = try #require(run.errors.split(separator: "\n").dropLast().last)
        #expect(last.hasPrefix("50%, 977 KiB of 1.91 MiB"))
        #expect(last.hasSuffix(", 1 of 2 done, 1 failed"))
        #expect(try TemporaryDirectory.contents(ofFile: "\(directory.path)/2") == server.content)
    }

    @Test func `Answers of uploads at the same time do not mix`() async throws {
        let url = try UploadServers.url("/status/200?drain=1&body=\(String(repeating: "x", count: 5000))")
        let group = ["--next", url, "-F", "a=b"]
        let groups = Array((0..<30).map { _ in group }.joined().dropFirst())
        let run = try await sluice(["upload", "--parallel", "30", "--progress", "none"] + groups)
        #expect(run.output == Array(repeating: 0x78, count: 150_000))
    }
}
