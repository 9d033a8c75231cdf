import Testing

extension RealRuns {
    @Suite struct CommandLineTests {
        static let bad: [[String]] = [
            ["--unknown"], ["stray"], ["--rounds"], ["--rounds", "0"], ["--rounds", "-1"], ["--rounds", "x"],
            ["--rounds", "99999999999999999999"], ["--size", "1.5"], ["--filter"], ["--filter", ""], ["--save"],
            ["--html", ""], ["--tolerance", "x"], ["--tolerance", "-1"], ["--tolerance", "100"],
            ["--tolerance", "nan"],
            ["--filter", "no-such-row"], ["--compare", "/no/such/file"], ["--compare", "/dev/null"],
        ]

        @Test(arguments: bad) func `Bad options give usage and status 64`(arguments: [String]) async throws {
            let outcome = try await BenchProcess(arguments).outcome()
            #expect(outcome.status == 64)
            #expect(outcome.output == "")
            #expect(outcome.errors.contains("usage: sluice-bench"))
            #expect(outcome.errors.hasPrefix("sluice-bench: "))
        }

        @Test(arguments: ["--help", "-h"]) func `Usage is there for who asks for it`(option: String) async throws {
            let outcome = try await BenchProcess.run(option)
            #expect(outcome.status == 0)
            #expect(outcome.output.hasPrefix("usage: sluice-bench"))
            #expect(outcome.errors == "")
        }

        @Test func `--list names rows and measures nothing`() async throws {
            let outcome = try await BenchProcess.run("--list", "--filter", "reader-*")
            #expect(outcome.status == 0)
            let lines = outcome.output.split(separator: "\n")
            #expect(lines.count >= 3)
            #expect(lines.allSatisfy { $0.hasPrefix("reader-") && $0.contains("; mark ") })
        }
    }
}
