#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Runs rows and prints what they gave.
struct Runner {
    let options: Options

    /// - Returns: Whether every row that could be measured is at its mark.
    func run(_ rows: [Row]) async throws -> Bool {
        let fixture = try Fixture(options)
        let width = rows.map(\.name.count).max() ?? 0
        print(pad("row", width), pad("ratio", 8), pad("range", 15), pad("mark", 10), "", separator: "  ")
        var allMet = true
        for row in rows {
            do {
                switch try await row.prepare(fixture, options) {
                case .absent(let reason):
                    print(pad(row.name, width), pad("absent", 8), reason, separator: "  ")
                case .value(let value, let details):
                    allMet = row.mark.isMet(value) && allMet
                    printLine(row, width, value, "", details)
                case .paired(let bytes, let sluice, let limits):
                    let result = try await measure(row, bytes, sluice, limits)
                    allMet = row.mark.isMet(result.ratio) && allMet
                    printLine(row, width, result.ratio, result.range, result.details)
                }
            } catch {
                allMet = false
                print(pad(row.name, width), pad("FAILED", 8), "\(error)", separator: "  ")
            }
        }
        print(
            """

            Ratio and range compare Sluice with the limit behind "; ": speeds where the mark is ">=", times where it is
            "<=". Each is the median of \(options.rounds) paired rounds. A wide range says that the machine was busy.
            """
        )
        return allMet
    }

    /// Prints at once, also into a pipe.
    private func print(_ items: Any..., separator: String = " ") {
        Swift.print(items.map { "\($0)" }.joined(separator: separator))
        fflush(nil)
    }

    private func printLine(_ row: Row, _ width: Int, _ value: Double, _ range: String, _ details: String) {
        print(
            pad(row.name, width),
            pad(format(value), 8),
            pad(range, 15),
            pad("\(row.mark)", 10),
            row.mark.isMet(value) ? "ok   " : "SHORT",
            details,
            separator: "  "
        )
    }

    private struct Result {
        let ratio: Double
        let range: String
        let details: String
    }

    /// A B A B ..., the order turned round every time, so that neither side always finds the caches warm.
    private func measure(
        _ row: Row,
        _ bytes: Int64,
        _ sluice: Row.Work,
        _ limits: [(name: String, work: Row.Work)]
    ) async throws -> Result {
        try await sluice()
        for limit in limits { try await limit.work() }
        var sluiceTimes: [Double] = []
        var limitTimes = limits.map { _ in [Double]() }
        for round in 0..<options.rounds {
            if round.isMultiple(of: 2) { sluiceTimes.append(try await time(sluice)) }
            for (index, limit) in limits.enumerated() { limitTimes[index].append(try await time(limit.work)) }
            if !round.isMultiple(of: 2) { sluiceTimes.append(try await time(sluice)) }
        }
        let fastest = limitTimes.indices.min { median(limitTimes[$0]) < median(limitTimes[$1]) } ?? 0
        let ratios = zip(sluiceTimes, limitTimes[fastest]).map { sluice, limit in
            if case .speedAtLeast = row.mark { limit / sluice } else { sluice / limit }
        }
        let rate = { (times: [Double]) in "\(format(Double(bytes) / self.median(times) / 1_048_576)) MiB/s" }
        return Result(
            ratio: median(ratios),
            range: "\(format(ratios.min() ?? 0))-\(format(ratios.max() ?? 0))",
            details: "\(rate(sluiceTimes)); "
                + limits.indices.map { "\(limits[$0].name) \(rate(limitTimes[$0]))" }.joined(separator: ", ")
        )
    }

    private func time(_ work: Row.Work) async throws -> Double {
        let start = Libc.seconds()
        try await work()
        return Libc.seconds() - start
    }

    private func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        guard let last = sorted.indices.last else { return .nan }
        return (sorted[last / 2] + sorted[(last + 1) / 2]) / 2
    }

    private func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(width - text.count, 0))
    }
}
