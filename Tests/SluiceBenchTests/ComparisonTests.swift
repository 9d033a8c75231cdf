import Testing

@testable import SluiceBench

@Suite struct ComparisonTests {
    private static let steady = (0..<11).map { 1 + Double($0 % 3) * 0.005 }

    private func verdicts(_ old: [RowResult], _ new: [RowResult], options: Options = Options()) -> [Comparison.Verdict]
    {
        Comparison(Made.report(old), Made.report(new, options: options), tolerance: 0.05).findings.map(\.verdict)
    }

    @Test func `The same is not worse`() {
        let rows = [Made.row(sluice: Self.steady, limit: Self.steady)]
        #expect(verdicts(rows, rows).isEmpty)
    }

    @Test(arguments: [Row.Mark.speedAtLeast(0.9), .timeAtMost(1.3), .unmarked])
    func `A tenth slower is worse, whichever way the mark has it`(mark: Row.Mark) {
        let old = Made.row(mark: mark, sluice: Self.steady, limit: Self.steady)
        let new = Made.row(mark: mark, sluice: Self.steady.map { $0 * 1.1 }, limit: Self.steady)
        #expect(verdicts([old], [new]).contains(.worse))
        #expect(verdicts([new], [old]).allSatisfy { $0 == .better })
        #expect(!verdicts([new], [old]).isEmpty)
    }

    @Test func `Less than the tolerance is not worse`() {
        let old = Made.row(sluice: Self.steady, limit: Self.steady)
        let new = Made.row(sluice: Self.steady.map { $0 * 1.04 }, limit: Self.steady)
        #expect(verdicts([old], [new]).isEmpty)
    }

    @Test func `A slower machine is not worse`() {
        let old = Made.row(sluice: Self.steady, limit: Self.steady)
        let new = Made.row(sluice: Self.steady.map { $0 * 3 }, limit: Self.steady.map { $0 * 3 })
        #expect(verdicts([old], [new]).isEmpty)
    }

    @Test func `What the rounds differ by themselves is unclear, and more rounds are asked for`() {
        let noise = [1, 0.7, 1.4, 0.8, 1.3, 1.2, 0.9]
        let old = Made.row(sluice: noise, limit: noise.map { _ in 1 })
        let new = Made.row(sluice: noise.map { $0 * 1.1 }, limit: noise.map { _ in 1 })
        let comparison = Comparison(Made.report([old]), Made.report([new]), tolerance: 0.05)
        #expect(comparison.findings.allSatisfy { $0.verdict == .unclear })
        #expect(comparison.isPassed)
        #expect(comparison.doubtfulRows == ["row"])
    }

    @Test func `One more of what is always the same is worse`() {
        let times = Self.steady
        func row(_ counts: Counts) -> RowResult { Made.row(sluice: times, limit: times, counts: counts) }
        let old = row(Made.counts(allocations: Count(least: 100, most: 100)))
        #expect(verdicts([old], [row(Made.counts(allocations: Count(least: 101, most: 101)))]) == [.worse])
        #expect(verdicts([old], [row(Made.counts(allocations: Count(least: 99, most: 99)))]) == [.better])
        // In one run there were no more than before: what there was beside is not Sluice's.
        #expect(verdicts([old], [row(Made.counts(allocations: Count(least: 100, most: 102)))]).isEmpty)
    }

    @Test func `What differs by itself may differ, within the tolerance`() {
        let times = Self.steady
        func row(_ least: Int64, _ most: Int64) -> RowResult {
            Made.row(sluice: times, limit: times, counts: Made.counts(systemCalls: Count(least: least, most: most)))
        }
        #expect(verdicts([row(1000, 1100)], [row(1150, 1200)]).isEmpty)
        #expect(verdicts([row(1000, 1100)], [row(1300, 1400)]) == [.worse])
    }

    @Test func `Calls that were counted in another way are not compared`() {
        let times = Self.steady
        var seen = Made.counts(systemCalls: Count(least: 10, most: 10))
        let old = Made.row(sluice: times, limit: times, counts: seen)
        seen.isTraced = false
        seen.systemCalls = Count(least: 12, most: 12)
        #expect(verdicts([old], [Made.row(sluice: times, limit: times, counts: seen)]).isEmpty)
    }

    @Test func `A row that fails, is absent or is gone now is worse`() {
        let old = Made.row(sluice: Self.steady, limit: Self.steady)
        var new = old
        new.state = .failed("because")
        #expect(verdicts([old], [new]) == [.worse])
        new.state = .absent("because")
        #expect(verdicts([old], [new]) == [.worse])
        #expect(verdicts([old], []) == [.worse])
    }

    @Test func `A row that was not asked for is not missed`() throws {
        let old = Made.row(sluice: Self.steady, limit: Self.steady)
        #expect(verdicts([old], [], options: try Options(["--filter", "other-*"])).isEmpty)
        let peer = Made.row("peer-upload", sluice: Self.steady, limit: Self.steady)
        #expect(verdicts([peer], []).isEmpty)
        #expect(verdicts([peer], [], options: try Options(["--peers"])) == [.worse])
    }

    @Test func `A count without a unit must not grow, and a quantity must stay at its mark`() {
        let count = Row.Mark.valueAtMost(4, "")
        #expect(verdicts([Made.value(3, mark: count)], [Made.value(4, mark: count)]) == [.worse])
        #expect(verdicts([Made.value(3, mark: count)], [Made.value(3, mark: count)]).isEmpty)
        let memory = Row.Mark.valueAtMost(20, "MiB")
        #expect(verdicts([Made.value(15, mark: memory)], [Made.value(19, mark: memory)]).isEmpty)
        #expect(verdicts([Made.value(19, mark: memory)], [Made.value(21, mark: memory)]) == [.worse])
    }

    @Test func `A curve that is not linear any more is worse`() {
        let linear = Made.growth { $0 }
        let square = Made.growth { $0 * $0 }
        let comparison = Comparison(
            Made.report([], growth: [linear]),
            Made.report([], growth: [square]),
            tolerance: 0.05
        )
        #expect(comparison.findings.map(\.verdict) == [.worse])
        #expect(!comparison.isPassed)
    }
}
