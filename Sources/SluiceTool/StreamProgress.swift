import Sluice
internal import Synchronization

/// The progress of an answer that is handed on as it comes, which is shown only once it is known to be the file.
final class StreamProgress: Sendable {
    private struct State {
        var isAccepted = false
        var attempt = 1
        var withheld: TransferProgress?
    }

    private let state = Mutex(State())
    private let display: TransferDisplay

    /// Shows on that display.
    init(_ display: TransferDisplay) {
        self.display = display
    }

    /// Takes a report.
    func show(_ progress: TransferProgress) {
        let (isAccepted, isNewAttempt) = state.withLock { state in
            defer { state.attempt = progress.attempt }
            if !state.isAccepted { state.withheld = progress }
            return (state.isAccepted, progress.attempt > state.attempt)
        }
        // The transport tells nobody else so.
        if isNewAttempt { display.say("trying again, attempt \(progress.attempt)") }
        if isAccepted { display.show(progress) }
    }

    /// Says that it is the file.
    func accept() {
        let withheld = state.withLock { state in
            state.isAccepted = true
            return state.withheld
        }
        if let withheld { display.show(withheld) }
    }
}
