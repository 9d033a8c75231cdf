internal import Synchronization

/// Turns a transfer's chunks into reports that are worth showing.
///
/// The transport calls ``advance(to:)`` once a chunk, which is an addition and a look at the clock; the
/// handler is called at most ten times a second, besides the first and the last report, which always come. Reports
/// are monotonic: completed bytes go down only where ``TransferProgress/attempt`` goes up.
package final class ProgressMeter: Sendable {
    private struct State {
        var completed: Int64 = 0
        var total: Int64?
        var part: Int?
        var partOffset: Int64 = 0
        var attempt = 1
        var resumed: Int64 = 0
        var rate = RateEstimate()
        /// The sources' bytes that are done, and how quickly; used only where parts are compressed.
        var source: Int64 = 0
        var sourceRate = RateEstimate()
        var lastDelivery: Double?
        var isFinished = false
    }

    private let state: Mutex<State>
    private let parts: [MultipartError.PartLabel]
    private let partTotals: [Int64?]
    private let countsSource: Bool
    private let sourceTotal: Int64?
    private let start: Double
    private let interval: Double
    private let clock: @Sendable () -> Double
    private let handler: @Sendable (TransferProgress) -> Void

    /// Makes a meter for one transfer of `body`.
    ///
    /// - Parameters:
    ///   - body: What is transferred.
    ///   - interval: The least number of seconds between two reports.
    ///   - clock: Seconds of a clock that never goes back.
    ///   - handler: Takes the reports, on the thread that moves the bytes; it should return soon.
    package init(
        _ body: MultipartBody,
        interval: Double = 0.1,
        clock: @escaping @Sendable () -> Double = { SystemCalls.monotonicSeconds() },
        handler: @escaping @Sendable (TransferProgress) -> Void
    ) {
        state = Mutex(State(total: body.contentLength))
        self.interval = interval
        self.clock = clock
        self.handler = handler
        parts = body.parts
        partTotals = body.partLengths
        countsSource = body.layout.isCompressed && body.isWhole
        sourceTotal = countsSource ? body.layout.sourceLength : nil
        start = clock()
    }

    /// Makes a meter for one transfer of bytes without parts, whose total is known later: a download.
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
        state = Mutex(State())
        self.interval = interval
        self.clock = clock
        self.handler = handler
        parts = []
        partTotals = []
        countsSource = false
        sourceTotal = nil
        start = clock()
    }

    /// A transfer that was given up without a word has its last report all the same.
    deinit {
        finish(completed: false)
    }

    /// Says how far the transfer is.
    ///
    /// A position before the last one starts a new attempt.
    package func advance(to mark: BodyReader.Mark) {
        advance(to: mark.position, surplus: mark.sourceSurplus) { state in
            if let part = mark.part {
                state.part = part
                state.partOffset = mark.offsetInPart
            } else if let last = self.partTotals.indices.last {
                // Behind the last part only the close-delimiter is left: the part stays the last one, and as far as it
                // was seen where its length is not known.
                if state.part != last { state.partOffset = 0 }
                state.part = last
                state.partOffset = self.partTotals[last] ?? state.partOffset
            }
        }
    }

    /// Says how far a transfer without parts is, and how far it has to go.
    ///
    /// - Parameters:
    ///   - position: The bytes that are done; fewer than before start a new attempt.
    ///   - total: The bytes in all, where known.
    package func advance(to position: Int64, of total: Int64?) {
        advance(to: position) { $0.total = total }
    }

    /// Says where the transfer begins that goes on with an earlier one, and reports it.
    ///
    /// What is there already has no part in the rate.
    ///
    /// - Parameters:
    ///   - position: The bytes that are there.
    ///   - total: The bytes in all, where known.
    package func resume(at position: Int64, of total: Int64?) {
        let now = clock()
        let report = state.withLock { state -> TransferProgress? in
            guard !state.isFinished else { return nil }
            state.completed = position
            state.resumed = position
            state.total = total
            state.rate.add(position, at: now, restarted: true)
            state.lastDelivery = now
            return makeReport(state, at: now)
        }
        if let report { handler(report) }
    }

    /// Starts a new attempt, also where nothing was done in the one before, and reports it.
    ///
    /// - Parameter position: Where the new attempt goes on from.
    package func beginAttempt(at position: Int64) {
        advance(to: position, isAttempt: true) { state in
            guard position == 0 else { return }
            state.part = self.parts.isEmpty ? nil : 0
            state.partOffset = 0
        }
    }

    private func advance(
        to position: Int64,
        surplus: Int64 = 0,
        isAttempt: Bool = false,
        _ change: (inout State) -> Void
    ) {
        let now = clock()
        let report = state.withLock { state -> TransferProgress? in
            guard !state.isFinished else { return nil }
            let restarted = isAttempt || position < state.completed
            if restarted { state.attempt += 1 }
            state.completed = position
            state.resumed = min(state.resumed, position)
            change(&state)
            state.rate.add(position, at: now, restarted: restarted)
            if countsSource {
                let least = restarted ? 0 : state.source
                state.source = min(max(position + surplus, least), sourceTotal ?? .max)
                state.sourceRate.add(state.source, at: now, restarted: restarted)
            }
            if !restarted, let last = state.lastDelivery, now - last < interval { return nil }
            state.lastDelivery = now
            return makeReport(state, at: now)
        }
        if let report { handler(report) }
    }

    /// Delivers the last report.
    ///
    /// Later calls of any kind do nothing.
    ///
    /// - Parameter completed: Whether all of the body was handed over; the report says so.
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
            part: state.part.map { index in
                TransferProgress.Part(
                    label: parts[index],
                    index: index,
                    count: parts.count,
                    completedBytes: state.partOffset,
                    totalBytes: partTotals[index]
                )
            },
            elapsedSeconds: now - start,
            bytesPerSecond: isLast ? state.rate.mean(at: state.completed, now) : state.rate.bytesPerSecond,
            attempt: state.attempt,
            resumedBytes: state.resumed,
            isFinished: isFinished,
            isLast: isLast,
            source: countsSource ? makeSourceReport(state, at: now, isFinished: isFinished, isLast: isLast) : nil
        )
    }

    private func makeSourceReport(
        _ state: State,
        at now: Double,
        isFinished: Bool,
        isLast: Bool
    ) -> TransferProgress.Source {
        TransferProgress.Source(
            completedBytes: state.source,
            totalBytes: sourceTotal ?? (isFinished ? state.source : nil),
            bytesPerSecond: isLast ? state.sourceRate.mean(at: state.source, now) : state.sourceRate.bytesPerSecond
        )
    }
}
