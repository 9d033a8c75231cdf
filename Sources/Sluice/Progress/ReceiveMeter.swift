internal import Synchronization

/// Turns the chunks of a download into reports, as ``ProgressMeter`` does for a body that is sent.
///
/// A chunk costs an addition and a look at the clock; the handler is called at most ten times a second, besides the first
/// and the last report, which always come.
package final class ReceiveMeter: Sendable {
    private struct State {
        var completed: Int64 = 0
        var total: Int64?
        var rate = RateEstimate()
        var lastDelivery: Double?
        var isFinished = false
    }

    private let state = Mutex(State())
    private let start: Double
    private let interval: Double
    private let clock: @Sendable () -> Double
    private let handler: @Sendable (TransferProgress) -> Void

    /// Makes a meter for one download.
    ///
    /// - Parameters:
    ///   - interval: The least number of seconds between two reports.
    ///   - clock: Seconds of a clock that never goes back.
    ///   - handler: Takes the reports, on the thread that moves the bytes; it should return soon.
    package init(
        interval: Double = 0.1,
        clock: @escaping @Sendable () -> Double = { SystemCalls.monotonicSeconds() },
        handler: @escaping @Sendable (TransferProgress) -> Void
    ) {
        self.interval = interval
        self.clock = clock
        self.handler = handler
        start = clock()
    }

    /// A download that was given up without a word has its last report all the same.
    deinit {
        finish(completed: false)
    }

    /// Says that the content begins, and makes the first report.
    ///
    /// - Parameter total: The bytes that are to come, where known.
    package func begin(expecting total: Int64?) {
        let now = clock()
        let report = state.withLock { state -> TransferProgress? in
            guard !state.isFinished else { return nil }
            state.total = total
            state.lastDelivery = now
            state.rate.add(state.completed, at: now, restarted: false)
            return makeReport(state, at: now)
        }
        if let report { handler(report) }
    }

    /// Counts a chunk.
    package func advance(by count: Int) {
        let now = clock()
        let report = state.withLock { state -> TransferProgress? in
            guard !state.isFinished else { return nil }
            state.completed += Int64(count)
            state.rate.add(state.completed, at: now, restarted: false)
            if let last = state.lastDelivery, now - last < interval { return nil }
            state.lastDelivery = now
            return makeReport(state, at: now)
        }
        if let report { handler(report) }
    }

    /// Delivers the last report.
    ///
    /// Later calls of any kind do nothing.
    ///
    /// - Parameter completed: Whether all of the content came; the report says so.
    package func finish(completed: Bool) {
        let now = clock()
        let report = state.withLock { state -> TransferProgress? in
            guard !state.isFinished else { return nil }
            state.isFinished = true
            return makeReport(state, at: now, isFinished: completed, isLast: true)
        }
        if let report { handler(report) }
    }

    private func makeReport(
        _ state: State,
        at now: Double,
        isFinished: Bool = false,
        isLast: Bool = false
    ) -> TransferProgress {
        TransferProgress(
            completedBytes: state.completed,
            // A server may send more than it said.
            totalBytes: isFinished ? state.completed : state.total.map { max($0, state.completed) },
            part: nil,
            elapsedSeconds: now - start,
            bytesPerSecond: isLast ? state.rate.mean(at: state.completed, now) : state.rate.bytesPerSecond,
            attempt: 1,
            isFinished: isFinished,
            isLast: isLast
        )
    }
}
