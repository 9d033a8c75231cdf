import Foundation

@testable import SluiceBench

/// Results that nobody measured.
enum Made {
    static func report(_ rows: [RowResult], options: Options = Options(), growth: [GrowthResult] = []) -> Report {
        var report = Report(
            date: Date(timeIntervalSince1970: 1_000_000),
            command: "sluice-bench <made> & \"up\"",
            machine: Machine(peers: []),
            options: options
        )
        report.rows = rows
        report.growth = growth
        return report
    }

    /// A row whose rounds took these seconds.
    static func row(
        _ name: String = "row",
        mark: Row.Mark = .speedAtLeast(0.9),
        sluice: [Double],
        limit: [Double],
        counts: Counts? = nil
    ) -> RowResult {
        var result = RowResult(Row(name: name, summary: "what <it> does & \"how\"", mark: mark) { _, _ in .absent("") })
        let sides = [
            SideTimes(name: "Sluice", wall: sluice, cpu: sluice, childrenCPU: sluice.map { _ in 0 }),
            SideTimes(name: "limit", wall: limit, cpu: limit, childrenCPU: limit.map { _ in 0 }),
        ]
        result.take(sides, bytes: 1 << 20, absent: [], isRace: false)
        result.sides[0].counts = counts
        return result
    }

    /// A row with a value.
    static func value(_ value: Double, mark: Row.Mark) -> RowResult {
        var result = RowResult(Row(name: "value", summary: "", mark: mark) { _, _ in .absent("") })
        result.value = value
        return result
    }

    static func counts(allocations: Count? = nil, systemCalls: Count? = nil, copiedBytes: Count? = nil) -> Counts {
        var counts = Counts()
        counts.isTraced = true
        counts.allocations = allocations
        counts.systemCalls = systemCalls
        counts.copiedBytes = copiedBytes
        return counts
    }

    /// A curve whose points cost what the function says.
    static func growth(_ cost: (Double) -> Double, addedMebibytes: (Double) -> Double = { _ in 0 }) -> GrowthResult {
        var result = GrowthResult(
            Growth(
                name: "curve",
                summary: "made",
                unit: "parts",
                memoryLimit: 1,
                sizes: { _ in [] },
                prepare: { _, _ in {} }
            )
        )
        result.points = [1, 10, 100, 1000, 10_000, 100_000].map { size in
            GrowthPoint(
                size: size,
                seconds: cost(Double(size)),
                processorSeconds: cost(Double(size)),
                addedMebibytes: addedMebibytes(Double(size))
            )
        }
        return result
    }
}
