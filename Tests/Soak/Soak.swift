internal import Foundation
internal import SluiceTestSupport

/// Uploads and downloads by the libraries and the tool, through real servers and with random faults, for as long as it is
/// told: `make soak`.
///
/// The third argument is what the names of the ways begin with that are gone; all of them without it.
///
/// It goes in rounds. Behind each, when nothing runs, it is looked at what the processes hold and what lies in the
/// directories. It fails where a file is not what was sent, where something was left, and where anything grows.
@main
enum Soak {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard 2...3 ~= arguments.count, let seconds = Double(arguments[2]) else {
            print("usage: SluiceSoak TOOL SECONDS [WAYS]")
            exit(64)
        }
        do {
            let findings = try await run(
                arguments[1],
                .seconds(seconds),
                arguments.count > 2 ? arguments[3] : "",
                seed: UInt64.random(in: .min ... .max)
            )
            for finding in findings { print("FAIL: \(finding)") }
            print(findings.isEmpty ? "PASS" : "FAIL")
            exit(findings.isEmpty ? 0 : 1)
        } catch {
            print("FAIL: \(error)")
            exit(1)
        }
    }

    private static func run(_ tool: String, _ duration: Duration, _ ways: String, seed: UInt64) async throws -> [String]
    {
        let peers = try await Peers(tool, lifetime: duration + .seconds(300))
        let work = Work(peers, ways)
        var samples: [Sample] = []
        var random = SeededGenerator(seed: seed)
        print("seed \(seed), \(duration)")
        let start = SuspendingClock.now
        // Enough rounds to see a trend, none of them longer than a quarter of a minute.
        let round = min(duration / 20, .seconds(15))
        while SuspendingClock.now - start < duration {
            try await work.round(for: round, &random)
            try await peers.expectTidy()
            let sample = try await Sample.settled(peers)
            samples.append(sample)
            print("\(Int((SuspendingClock.now - start) / .seconds(1))) s: \(sample); \(work.tally)")
            if work.tally.hasFailed { break }
        }
        print(work.tally.table)
        return work.tally.findings + Sample.growth(samples)
    }
}
