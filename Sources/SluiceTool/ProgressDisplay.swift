import Sluice
import SluiceCurl
internal import Synchronization

/// Shows the progress of a command's transfers on the console, in the way that was asked for.
///
/// However many transfers there are, there is one bar, or one plain line a second, for all of them together; the lines of
/// JSON are about one each.
final class ProgressDisplay: Sendable {
    /// A way of showing progress; the raw value is what `--progress` takes.
    enum Style: String, CaseIterable, Sendable {
        case auto
        case bar
        case plain
        case json
        case none
    }

    private let style: Style
    private let console: Console
    private let count: Int
    /// All transfers together, where there are several.
    private let sum: ProgressSum?
    private let lastLine = Mutex((seconds: 0.0, attempt: 1))

    /// The least seconds between two plain lines.
    private static let plainInterval = 1.0
    /// What a bar may take up where the console is no terminal, and so has no width.
    private static let defaultColumns = 79

    /// Makes a display.
    ///
    /// - Parameters:
    ///   - style: How to show progress.
    ///   - lengths: The bytes of each transfer, where they are known.
    ///   - console: Where.
    init(_ style: Style, lengths: [Int64?], on console: Console) {
        self.style = style == .auto ? (console.columns == nil ? .plain : .bar) : style
        self.console = console
        count = lengths.count
        sum = lengths.count > 1 ? ProgressSum(lengths) : nil
    }

    // MARK: One of the transfers

    /// Shows a report, of which there are at most ten a second for each transfer.
    ///
    /// - Parameters:
    ///   - progress: The report.
    ///   - number: The transfer's number, from 0.
    func show(_ progress: TransferProgress, of number: Int) {
        if style == .json {
            console.print(ProgressLines.json(progress, transfer: number + 1))
        } else if let sum {
            sum.add(progress, of: number).map { show($0.progress, note: $0.note) }
        } else {
            show(progress)
        }
    }

    /// Shows that a transfer is tried again.
    func show(_ notice: RetryNotice, of number: Int) {
        if style == .json {
            console.print(ProgressLines.json(notice, transfer: number + 1))
        } else {
            let seconds = Units.decimal(notice.delay / .seconds(1), digits: 1)
            say(
                "\(ToolError.words(for: notice.reason)); trying again in \(seconds) s, attempt \(notice.attempt)",
                of: number
            )
        }
    }

    /// Says something about a transfer in a line of its own.
    func say(_ text: String, of number: Int) {
        console.print("sluice: \(sum == nil ? "" : "transfer \(number + 1): ")\(printable(text))")
    }

    /// Says that a transfer is over.
    func end(_ number: Int, succeeded: Bool) {
        guard style != .json, let report = sum?.end(number, succeeded: succeeded) else { return }
        show(report.progress, note: report.note)
    }

    // MARK: All of them

    private func show(_ progress: TransferProgress, note: String? = nil) {
        switch style {
        case .bar:
            let columns = console.columns ?? Self.defaultColumns
            console.show(inPlace: ProgressBar.line(progress, note: note, columns: columns))
        case .plain:
            let isDue = lastLine.withLock { last in
                let isDue =
                    progress.isFinished || progress.isLast && note != nil || progress.attempt != last.attempt
                    || progress.elapsedSeconds - last.seconds >= Self.plainInterval
                if isDue { last = (progress.elapsedSeconds, progress.attempt) }
                return isDue
            }
            if isDue { console.print(ProgressLines.plain(progress, note: note)) }
        case .auto, .json, .none:
            break
        }
    }

    /// Ends the bar of the only transfer, before more is said about it.
    func endOnly(keepsBar: Bool) {
        if sum == nil { end(keepsBar: keepsBar) }
    }

    /// Ends the display.
    ///
    /// - Parameter keepsBar: Whether a bar stays that is still there.
    func end(keepsBar: Bool) {
        if keepsBar { console.keepLineInPlace() } else { console.clearLineInPlace() }
    }
}
