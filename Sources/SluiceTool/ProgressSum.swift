import Sluice
internal import Synchronization

/// The progress of several transfers as that of one.
final class ProgressSum: Sendable {
    /// A report about all transfers, and how many of them are over.
    typealias Report = (progress: TransferProgress, note: String)

    private struct State {
        var completed: [Int64]
        var lengths: [Int64?]
        var done = 0
        var failed = 0

        /// The bytes of all transfers.
        var sum: Int64 { completed.reduce(0) { $0.addingSaturated($1) } }

        /// Known only where it is for all of them.
        var total: Int64? {
            lengths.reduce(0) { sum, length in length.flatMap { length in sum.map { $0.addingSaturated(length) } } }
        }
    }

    private let state: Mutex<State>
    private let meter: ProgressMeter
    private let latest: LatestReport

    /// What the meter reports, which it does while it is told something.
    private final class LatestReport: Sendable {
        let report = Mutex<TransferProgress?>(nil)
    }

    /// Begins with nothing.
    ///
    /// - Parameter lengths: The bytes of each transfer, where they are known.
    init(_ lengths: [Int64?]) {
        let latest = LatestReport()
        self.latest = latest
        meter = ProgressMeter { report in latest.report.withLock { $0 = report } }
        state = Mutex(State(completed: lengths.map { _ in 0 }, lengths: lengths))
    }

    /// Adds a report about one of the transfers.
    ///
    /// - Parameters:
    ///   - progress: The report.
    ///   - number: The transfer's number, from 0.
    /// - Returns: A report about all, if it is time for one.
    func add(_ progress: TransferProgress, of number: Int) -> Report? {
        state.withLock { state in
            guard state.completed.indices.contains(number) else { return nil }
            state.completed[number] = progress.completedBytes
            if let length = progress.totalBytes { state.lengths[number] = length }
            meter.advance(to: state.sum, of: state.total)
            return takeReport(state)
        }
    }

    /// Counts a transfer that is over.
    ///
    /// - Parameters:
    ///   - number: The transfer's number, from 0.
    ///   - succeeded: Whether all is well.
    /// - Returns: A report about all, if it is time for one, and in any case after the last.
    func end(_ number: Int, succeeded: Bool) -> Report? {
        state.withLock { state in
            if succeeded { state.done += 1 } else { state.failed += 1 }
            if state.done + state.failed == state.completed.count {
                meter.finish(completed: state.failed == 0)
            } else {
                meter.advance(to: state.sum, of: state.total)
            }
            return takeReport(state)
        }
    }

    private func takeReport(_ state: State) -> Report? {
        let report = latest.report.withLock { report in
            defer { report = nil }
            return report
        }
        guard let report else { return nil }
        let failed = state.failed > 0 ? ", \(state.failed) failed" : ""
        return (report, "\(state.done) of \(state.completed.count) done\(failed)")
    }
}
