import Foundation
import SluiceTestSupport
import Testing

/// The regression gate with real runs.
extension RealRuns {
    @Suite struct GateTests {
        // A row that computes and hardly touches memory, so that other programs on the machine disturb it least.
        private static let arguments = ["--filter", "gzip-one-worker", "--rounds", "5", "--size", "16"]

        @Test func `The same program passes, and one that is a tenth slower is caught`() async throws {
            let directory = try TemporaryDirectory()
            let kept = "\(directory.path)/kept.json"
            // Whether the marks are met in a debug build is not the matter.
            let first = try await BenchProcess(Self.arguments + ["--save", kept]).outcome()
            try #require([0, 1].contains(first.status), "\(first.errors)")

            let same = try await BenchProcess(Self.arguments + ["--compare", kept]).outcome()
            #expect(same.status == 0, "\(same.errors)")
            #expect(same.errors.contains("Nothing got worse."))

            let slower = try await BenchProcess(
                Self.arguments + ["--compare", kept],
                environment: ["SLUICE_BENCH_SLOWDOWN": "1.1"]
            ).outcome()
            #expect(slower.status == 1, "\(slower.errors)")
            #expect(slower.errors.contains("WORSE: gzip-one-worker: "))
        }

        @Test func `Results of another size are not compared`() async throws {
            let directory = try TemporaryDirectory()
            let kept = "\(directory.path)/kept.json"
            let arguments = ["--counts", "--filter", "allocations-memory-parts", "--size"]
            #expect(try await BenchProcess(arguments + ["1", "--save", kept]).outcome().status == 0)
            let other = try await BenchProcess(arguments + ["2", "--compare", kept]).outcome()
            #expect(other.status == 64)
            #expect(other.errors.contains("--size 1"))
        }
    }
}
