import Testing

@testable import SluiceBench

@Suite struct OptionsTests {
    @Test func `What is given counts, before and after --quick`() throws {
        #expect(try Options([]).rounds == 7)
        #expect(try Options(["--quick"]).rounds == 3)
        #expect(try Options(["--quick"]).mebibytes == 256)
        #expect(try Options(["--rounds", "9", "--quick"]).rounds == 9)
        #expect(try Options(["--quick", "--rounds", "9", "--size", "12"]).mebibytes == 12)
    }

    @Test(arguments: [("5%", 0.05), ("5", 0.05), ("0", 0), ("12.5%", 0.125)])
    func `A tolerance is a percentage, with or without the sign`(text: String, value: Double) throws {
        #expect(try Options(["--tolerance", text]).tolerance == value)
    }

    @Test func `Rows are chosen by any of the patterns`() throws {
        let options = try Options(["--filter", "reader-*", "--filter", "progress"])
        #expect(options.chooses("reader-file"))
        #expect(options.chooses("progress"))
        #expect(!options.chooses("upload-tool"))
    }

    @Test func `Peers are chosen when they are asked for`() throws {
        #expect(try !Options([]).chooses("peer-upload"))
        #expect(try Options(["--peers"]).chooses("peer-upload"))
        #expect(try Options(["--filter", "peer-*"]).chooses("peer-upload"))
    }

    static let bad: [[String]] = [
        ["--unknown"], ["stray"], ["--rounds"], ["--rounds", "0"], ["--rounds", "-1"], ["--rounds", "x"],
        ["--rounds", "99999999999999999999"], ["--size", "1.5"], ["--filter"], ["--filter", ""], ["--save"],
        ["--html", ""], ["--tolerance", "x"], ["--tolerance", "-1"], ["--tolerance", "100"], ["--tolerance", "nan"],
        ["--filter", "no-such-row"], ["--compare", "/no/such/file"], ["--compare", "/dev/null"],
    ]

    @Test(arguments: bad) func `Bad options give usage and status 64`(arguments: [String]) async throws {
        let outcome = try await BenchProcess(arguments).outcome()
        #expect(outcome.status == 64)
        #expect(outcome.output == "")
        #expect(outcome.errors.contains("usage: sluice-bench"))
        #expect(outcome.errors.hasPrefix("sluice-bench: "))
    }

    @Test func `--list names rows and measures nothing`() async throws {
        let outcome = try await BenchProcess.run("--list", "--filter", "reader-*")
        #expect(outcome.status == 0)
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.count >= 3)
        #expect(lines.allSatisfy { $0.hasPrefix("reader-") && $0.contains("; mark ") })
    }
}
