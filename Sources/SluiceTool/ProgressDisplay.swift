import Sluice
internal import Synchronization

/// Shows a transfer's progress on the console, in the way that was asked for.
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
    private let lastLine = Mutex((seconds: 0.0, attempt: 1))

    /// The least seconds between two plain lines.
    private static let plainInterval = 1.0
    /// What a bar may take up where the console is no terminal, and so has no width.
    private static let defaultColumns = 79

    init(_ style: Style, on console: Console) {
        self.style = style == .auto ? (console.columns == nil ? .plain : .bar) : style
        self.console = console
    }

    /// Shows a report. Reports come at most ten times a second.
    ///
    /// - Parameter progress: The report.
    func show(_ progress: TransferProgress) {
        switch style {
        case .bar:
            console.show(inPlace: ProgressBar.line(progress, columns: console.columns ?? Self.defaultColumns))
        case .json:
            console.print(ProgressLines.json(progress))
        case .plain:
            let isDue = lastLine.withLock { last in
                let isDue =
                    progress.isFinished || progress.attempt != last.attempt
                    || progress.elapsedSeconds - last.seconds >= Self.plainInterval
                if isDue { last = (progress.elapsedSeconds, progress.attempt) }
                return isDue
            }
            if isDue { console.print(ProgressLines.plain(progress)) }
        case .auto, .none:
            break
        }
    }

    /// Ends the display: the bar stays if all is well, and goes if not.
    ///
    /// - Parameter success: Whether all of the body was sent.
    func end(success: Bool) {
        if success { console.keepLineInPlace() } else { console.clearLineInPlace() }
    }
}
