/// A run of the benchmark beside one that was kept.
///
/// Ratios and counts are compared, which are the machine's least; seconds are not.
struct Comparison {
    enum Verdict: String {
        case worse = "WORSE"
        case better
        /// It cannot be told: it looks worse, but not by more than the rounds differ among themselves, or it cannot be
        /// counted here.
        case unclear
    }

    struct Finding {
        let row: String
        let what: String
        let verdict: Verdict
        /// Whether more rounds could tell more.
        let isTimed: Bool
    }

    private(set) var findings: [Finding] = []

    var isPassed: Bool { !findings.contains { $0.verdict == .worse } }

    /// The rows of which more rounds would be good to have.
    var doubtfulRows: Set<String> {
        Set(findings.filter { $0.isTimed && $0.verdict != .better }.map(\.row))
    }

    /// - Parameters:
    ///   - old: What was kept.
    ///   - new: What was measured now, under `new.options`.
    ///   - tolerance: How much worse a ratio may be, as a share of the old one.
    init(_ old: Report, _ new: Report, tolerance: Double) {
        for before in old.rows where before.state == .measured && new.options.chooses(before.name) {
            guard let after = new.rows.first(where: { $0.name == before.name }) else {
                add(before.name, "is not measured any more", .worse)
                continue
            }
            switch after.state {
            case .absent(let reason): add(after.name, "is absent now: \(reason)", .worse)
            case .failed(let reason): add(after.name, "fails now: \(reason)", .worse)
            case .measured: compare(before, after, tolerance)
            }
        }
        // What is new has nothing to be compared with, but must not fail.
        for after in new.rows where !old.rows.contains(where: { $0.name == after.name }) {
            if case .failed(let reason) = after.state { add(after.name, "fails: \(reason)", .worse) }
        }
        for before in old.growth where before.isMet {
            if let after = new.growth.first(where: { $0.name == before.name }), !after.isMet {
                add(after.name, "grew as it should before, and does not any more", .worse)
            }
        }
    }

    /// What was found, a line each.
    var text: String {
        let lines = findings.map { "\($0.verdict.rawValue): \($0.row): \($0.what)" }
        return (lines + [isPassed ? "Nothing got worse." : "Some of it got worse."]).joined(separator: "\n")
    }

    private mutating func add(_ row: String, _ what: String, _ verdict: Verdict, isTimed: Bool = false) {
        findings.append(Finding(row: row, what: what, verdict: verdict, isTimed: isTimed))
    }

    private mutating func compare(_ old: RowResult, _ new: RowResult, _ tolerance: Double) {
        compare(new.name, "ratio", old.ratio, new.ratio, moreIsBetter: new.mark.comparesSpeeds, tolerance)
        compare(
            new.name,
            "processor time, as a ratio to the limit's,",
            old.processorRatio,
            new.processorRatio,
            moreIsBetter: false,
            tolerance
        )
        compareValue(old, new)
        for side in old.sides {
            guard let counts = side.counts, let newSide = new.sides.first(where: { $0.name == side.name }) else {
                continue
            }
            let prefix = side.name == new.sides.first?.name ? "" : "\(side.name): "
            for (name, count) in counts.gated {
                guard let newCount = newSide.counts?.gated.first(where: { $0.name == name })?.count else {
                    add(new.name, "\(prefix)\(name) cannot be counted here", .unclear)
                    continue
                }
                compare(new.name, prefix + name, count, newCount, tolerance)
            }
        }
    }

    private mutating func compare(
        _ row: String,
        _ what: String,
        _ old: Spread?,
        _ new: Spread?,
        moreIsBetter: Bool,
        _ tolerance: Double
    ) {
        guard let old, let new, old.median > 0 else { return }
        let change = (new.median - old.median) / old.median * (moreIsBetter ? -1 : 1)
        guard change.magnitude > tolerance else { return }
        let isApart = new.high < old.low || new.low > old.high
        if change < 0, !isApart { return }
        add(
            row,
            "\(what) \(format(old.median)) (\(format(old.low))-\(format(old.high))) -> "
                + "\(format(new.median)) (\(format(new.low))-\(format(new.high)))",
            change < 0 ? .better : isApart ? .worse : .unclear,
            isTimed: true
        )
    }

    /// Counts that are the same in every run must not grow at all; others not by more than the tolerance and what
    /// they differ by themselves.
    private mutating func compare(_ row: String, _ what: String, _ old: Count, _ new: Count, _ tolerance: Double) {
        let slack = old.isExact ? 0 : Double(old.most) * tolerance + Double(old.most - old.least)
        if Double(new.least) > Double(old.most) + slack {
            add(row, "\(what) \(old.most) -> \(new.least)", .worse)
        } else if Double(new.most) < Double(old.least) - slack {
            add(row, "\(what) \(old.least) -> \(new.most)", .better)
        }
    }

    /// A number without a unit is a count; a quantity with one, such as MiB, is worse where it leaves its mark.
    private mutating func compareValue(_ old: RowResult, _ new: RowResult) {
        guard let before = old.value, let after = new.value else { return }
        var isCount = false
        if case .valueAtMost(_, "") = new.mark { isCount = true }
        if isCount && after > before || old.isMet && !new.isMet {
            add(new.name, "\(format(before)) -> \(format(after)), mark \(new.mark)", .worse)
        }
    }
}
