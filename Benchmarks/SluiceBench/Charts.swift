/// Which charts a report has.
struct Charts {
    private let report: Report

    init(_ report: Report) { self.report = report }

    /// Rows that come close to their limit, as shares of its speed.
    private var nearLimit: [RowResult] {
        report.rows.filter { row in
            row.mark != .unmarked && (row.share ?? 3) < 3
        }
    }

    /// Rows in which there is more than one other side, or one that is far behind.
    private var sideBySide: [RowResult] {
        report.rows.filter { row in
            row.ratio != nil && (row.mark == .unmarked || (row.share ?? 0) >= 3)
        }
    }

    /// Sluice's speed as a share of the limit's, a line at the limit and a mark where the row's is.
    var limits: (content: String, height: Double)? {
        let bars = nearLimit.compactMap { row -> Bar? in
            guard let share = row.share else { return nil }
            let state = row.isMet ? "" : " (short)"
            return Bar(label: row.name, value: share, text: fixed(share, 2) + state, mark: row.markShare)
        }
        return bars.isEmpty ? nil : Chart.bars(bars, full: 1.5, reference: 1)
    }

    /// A chart for each row in which speeds stand beside each other.
    var races: [(row: RowResult, content: String, height: Double)] {
        sideBySide.map { row in
            let rates = row.sides.map { $0.rate(row.bytes) ?? 0 }
            let bars = zip(row.sides, rates).enumerated().map { index, side in
                let memory = side.0.peakMebibytes.map { ", \(fixed($0, 0)) MiB of memory" } ?? ""
                return Bar(
                    label: side.0.name,
                    value: side.1,
                    text: "\(format(side.1)) MiB/s\(memory)",
                    kind: index == 0 ? .sluice : .other
                )
            }
            let chart = Chart.bars(bars, full: max(rates.max() ?? 1, 1e-9))
            return (row, chart.content, chart.height)
        }
    }

    var curves: [(growth: GrowthResult, content: String, height: Double)] {
        report.growth.map { growth in
            let points = growth.points.map { (x: Double($0.size), y: $0.processorSeconds) }
            let chart = Chart.curve(points, unit: growth.unit)
            return (growth, chart.content, chart.height)
        }
    }
}

extension RowResult {
    /// Sluice's speed as a share of the limit's, whatever the mark compares.
    var share: Double? {
        guard let ratio, ratio.median > 0 else { return nil }
        return mark.comparesSpeeds ? ratio.median : 1 / ratio.median
    }

    /// The share at which the mark is.
    var markShare: Double? {
        switch mark {
        case .speedAtLeast(let share): share
        case .timeAtMost(let multiple): 1 / multiple
        case .valueAtMost, .valueAtLeast, .unmarked: nil
        }
    }
}
