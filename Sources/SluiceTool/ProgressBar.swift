import Sluice

/// A line for terminals: ` 45% [=====>      ]  1.20 GiB of 2.60 GiB   312 MiB/s  ETA    0:04  "video"`.
enum ProgressBar {
    private enum Field {
        case percent, bar, bytes, ratio, rate, time, part
    }

    /// What is shown, the best first; each needs less room than the one before.
    private static let layouts: [[Field]] = [
        [.percent, .bar, .bytes, .ratio, .rate, .time, .part],
        [.percent, .bar, .bytes, .ratio, .rate, .time],
        [.percent, .bar, .bytes, .ratio, .rate],
        [.percent, .bar, .bytes, .rate],
        [.percent, .bytes, .rate],
        [.percent, .bytes],
        [.percent],
    ]
    private static let gap = "  "
    /// The least cells between the brackets for which they are worth their room, and the most.
    private static let cells = 8...40

    /// Renders the line.
    ///
    /// - Parameters:
    ///   - progress: What it shows.
    ///   - note: What to show in the part's place; nil for the part.
    ///   - columns: The columns that it may take up.
    /// - Returns: A line of at most so many columns. What has no room is left out: first the part, then the time, the
    ///   bar, the rate, the bytes. What compression saves goes after the time.
    static func line(_ progress: TransferProgress, note: String? = nil, columns: Int) -> String {
        let label = note.map { Label(cut: nil, fixed: $0) } ?? Label(progress)
        for layout in layouts {
            if let line = line(progress, label, layout, columns) { return line }
        }
        return ""
    }

    /// The line in this layout; nil where it has no room.
    private static func line(
        _ progress: TransferProgress,
        _ label: Label?,
        _ layout: [Field],
        _ columns: Int
    ) -> String? {
        let figures = ShownProgress(progress)
        var texts: [Field: String] = [
            .bytes: bytes(figures),
            .rate: rate(figures),
        ]
        texts[.percent] = percent(figures)
        texts[.time] = time(progress, figures)
        texts[.ratio] = figures.ratioText.map { DisplayWidth.padded($0, to: 6) }

        var room = columns
        var shown = 0
        for field in layout {
            let least: Int? =
                switch field {
                case .bar: cells.lowerBound + 2
                case .part: label?.leastColumns
                default: texts[field].map(DisplayWidth.columns)
                }
            guard let least else { continue }
            room -= least + (shown > 0 ? gap.count : 0)
            shown += 1
        }
        guard room >= 0, shown > 0 else { return nil }

        // What is left goes to the part's name, then to the bar.
        if layout.contains(.part), let label {
            let text = label.text(columns: label.leastColumns + room)
            room -= DisplayWidth.columns(of: text) - label.leastColumns
            texts[.part] = text
        }
        if layout.contains(.bar) {
            texts[.bar] = bar(progress, figures, min(cells.lowerBound + room, cells.upperBound))
        }
        return layout.compactMap { texts[$0] }.joined(separator: gap)
    }

    // MARK: Fields

    private static func percent(_ shown: ShownProgress) -> String? {
        shown.fractionCompleted.map { DisplayWidth.padded("\(Int($0 * 100))%", to: 4) }
    }

    private static func bytes(_ shown: ShownProgress) -> String {
        let completed = DisplayWidth.padded(Units.bytes(shown.completedBytes), to: 8)
        guard let total = shown.totalBytes else { return completed }
        return "\(completed) of \(Units.bytes(total))"
    }

    private static func rate(_ shown: ShownProgress) -> String {
        DisplayWidth.padded(shown.bytesPerSecond.map(Units.rate) ?? "", to: 10)
    }

    private static func time(_ progress: TransferProgress, _ shown: ShownProgress) -> String? {
        if progress.isFinished { return "in \(DisplayWidth.padded(Units.duration(progress.elapsedSeconds), to: 8))" }
        guard shown.totalBytes != nil else { return nil }
        return "ETA \(DisplayWidth.padded(shown.secondsRemaining.map(Units.duration) ?? "-:--", to: 7))"
    }

    private static func bar(_ progress: TransferProgress, _ shown: ShownProgress, _ count: Int) -> String {
        guard let fraction = shown.fractionCompleted else { return movingMark(progress, count) }
        let filled = min(Int(fraction * Double(count)), count)
        let head = filled < count && shown.completedBytes > 0 ? ">" : ""
        let rest = String(repeating: " ", count: count - filled - head.count)
        return "[" + String(repeating: "=", count: filled) + head + rest + "]"
    }

    /// A mark that goes to and fro once every four seconds.
    private static func movingMark(_ progress: TransferProgress, _ count: Int) -> String {
        let mark = "<=>"
        let room = count - mark.count
        let phase = progress.elapsedSeconds.truncatingRemainder(dividingBy: 4) / 2
        let position = phase.isFinite ? min(max(Int((phase < 1 ? phase : 2 - phase) * Double(room)), 0), room) : 0
        let before = String(repeating: " ", count: position)
        return "[" + before + mark + String(repeating: " ", count: room - position) + "]"
    }
}

/// What stands at the end of a bar: the part that is under way, or something else.
private struct Label {
    /// What may be cut.
    let cut: String?
    /// What may not.
    let fixed: String

    /// The least columns of a part's name by which it can be told, and the most.
    private static let nameColumns = 8...30

    init(cut: String?, fixed: String) {
        self.cut = cut
        self.fixed = fixed
    }

    /// The part's name and where it stands among the others; or where a download began that goes on with another one.
    init?(_ progress: TransferProgress) {
        if progress.resumedBytes > 0 {
            self.init(cut: nil, fixed: "from \(Units.bytes(progress.resumedBytes))")
        } else if !progress.isFinished, let part = progress.part {
            self.init(cut: part.label.description, fixed: part.count > 1 ? " (\(part.index + 1)/\(part.count))" : "")
        } else {
            return nil
        }
    }

    var leastColumns: Int {
        min(cut.map(DisplayWidth.columns) ?? 0, Self.nameColumns.lowerBound) + DisplayWidth.columns(of: fixed)
    }

    func text(columns: Int) -> String {
        let room = min(columns - DisplayWidth.columns(of: fixed), Self.nameColumns.upperBound)
        return (cut.map { DisplayWidth.truncated($0, to: room) } ?? "") + fixed
    }
}
