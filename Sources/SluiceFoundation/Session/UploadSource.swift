internal import Foundation
internal import Sluice
internal import Synchronization

/// Makes the streams of an upload, one for each attempt, and counts all of them as one transfer.
final class UploadSource: Sendable {
    let body: MultipartBody
    private let readAhead: Int
    private let meter: ProgressMeter?
    private let state = Mutex(State())

    private struct State {
        var isFirst = true
        /// What reads ahead for the next stream, or for the current one.
        var ahead: AheadReader?
        var isTaken = false
    }

    init(_ body: MultipartBody, readAhead: Int, meter: ProgressMeter?) {
        self.body = body
        self.readAhead = readAhead
        self.meter = meter
    }

    /// Starts to read ahead where the body may wait; `body` is called when a request may begin.
    ///
    /// - Returns: What reads ahead; nil where nothing does, and the request may begin now.
    func gather() throws(MultipartError) -> AheadReader? {
        guard body.mayBlock else { return nil }
        let ahead = try AheadReader(body, capacity: readAhead)
        state.withLock { state in
            state.ahead = ahead
            state.isTaken = false
        }
        ahead.start()
        return ahead
    }

    /// What reads ahead now, where something does.
    var ahead: AheadReader? { state.withLock { $0.ahead } }

    /// A stream of the body from its start.
    func takeStream() -> BodyInputStream {
        if state.withLock({ $0.isTaken }) { _ = try? gather() }
        let (ahead, isFirst) = state.withLock { state in
            defer {
                state.isFirst = false
                state.isTaken = true
            }
            return (state.ahead, state.isFirst)
        }
        // The report of a new attempt, which must not wait for a chunk that ends behind the last position.
        if !isFirst, let start = try? body.makeReader() { meter?.advance(to: start.mark) }
        return BodyInputStream(StreamCore(body, ahead: ahead, meter: meter, finishesMeter: false))
    }
}
