/// Reads a body on a thread of its own, one chunk ahead of whoever takes the chunks.
///
/// For sinks that must not wait themselves: Swift's shared thread pool, an event loop. The thread is started by the
/// first ``take(notify:)`` and ends at the body's end, at an error, and after ``cancel()``. What it reads goes to the
/// chunk that waits to be taken, while that has room: to take one costs more than the few bytes are worth that a source
/// may give at a time.
package final class ReadAhead: Sendable {
    /// What ``take(notify:)`` has to give.
    package enum Step: Sendable {
        /// The next bytes, never none, and where the body stood behind them.
        case chunk([UInt8], at: BodyReader.Mark)
        /// Nothing yet; the notification comes when there is.
        case pending
        /// The body's end.
        case end
        /// What reading threw.
        case failed(MultipartError)
    }

    private struct State {
        /// What waits to be taken; none while there is nothing.
        var chunk: [UInt8] = []
        /// Where the body stood behind ``chunk``.
        var mark: BodyReader.Mark?
        /// What comes behind ``chunk``, and stays: the end or a failure.
        var outcome: Step?
        var isStarted = false
        var isCancelled = false
        var notify: (@Sendable () -> Void)?
    }

    /// The most bytes that are added to others, for which whoever takes them may have to wait.
    private static let smallCount = 64 * 1024

    private let state = Monitor(State())
    private let interrupt = ReadInterrupt()
    private let chunkSize: Int
    private let makeReader: @Sendable (ReadInterrupt) throws(MultipartError) -> BodyReader

    /// Makes a read-ahead; nothing is read yet.
    ///
    /// - Parameters:
    ///   - chunkSize: The most bytes in a chunk.
    ///   - makeReader: Makes the reader, on the thread that will use it.
    package init(
        chunkSize: Int,
        makeReader: @escaping @Sendable (ReadInterrupt) throws(MultipartError) -> BodyReader
    ) {
        self.chunkSize = chunkSize
        self.makeReader = makeReader
    }

    deinit {
        cancel()
    }

    /// Takes the next chunk without waiting.
    ///
    /// - Parameter notify: Called once, from another thread, when the step was ``Step/pending`` and there is something
    ///   to take.
    /// - Returns: The next step. After ``Step/end`` or ``Step/failed(_:)``, the same again.
    package func take(notify: @escaping @Sendable () -> Void) -> Step {
        let (step, startsThread) = state.update { state -> (Step, Bool) in
            if state.isCancelled { return (.failed(.cancelledRead), false) }
            if let mark = state.mark {
                defer { (state.chunk, state.mark) = ([], nil) }
                return (.chunk(state.chunk, at: mark), false)
            }
            if let outcome = state.outcome { return (outcome, false) }
            state.notify = notify
            defer { state.isStarted = true }
            return (.pending, !state.isStarted)
        }
        if startsThread { start() }
        return step
    }

    /// Ends the reading: a source that waits is interrupted, the thread ends, and every later step is a failure.
    package func cancel() {
        interrupt.trigger()
        let notify = state.update { state in
            state.isCancelled = true
            (state.chunk, state.mark, state.outcome) = ([], nil, nil)
            defer { state.notify = nil }
            return state.notify
        }
        notify?()
    }

    private func start() {
        // The thread must not keep `self` alive: its release is what ends the thread.
        let (state, interrupt, chunkSize, makeReader) = (state, interrupt, chunkSize, makeReader)
        do {
            try WorkerThread.start("sluice-read") {
                Self.run(state, chunkSize) { () throws(MultipartError) in try makeReader(interrupt) }
            }
        } catch {
            Self.end(state, .failed(MultipartError(.resourcesExhausted, "no thread to read on", error)))
        }
    }

    private static func run(
        _ state: Monitor<State>,
        _ chunkSize: Int,
        makeReader: () throws(MultipartError) -> BodyReader
    ) {
        do {
            let reader = try makeReader()
            var chunk: [UInt8] = []
            while try reader.read(appendingTo: &chunk, upTo: chunkSize) > 0 {
                guard deliver(&chunk, at: reader.mark, chunkSize, to: state) else { return }
            }
            end(state, .end)
        } catch {
            end(state, .failed(error))
        }
    }

    /// Adds the bytes to those that wait to be taken, or waits until those were; then tells the taker.
    ///
    /// - Parameters:
    ///   - chunk: The bytes; empty afterwards.
    ///   - mark: Where the body stands behind them.
    ///   - chunkSize: The most bytes that may wait.
    ///   - state: What the taker looks at.
    /// - Returns: Whether anybody still wants more.
    private static func deliver(
        _ chunk: inout [UInt8],
        at mark: BodyReader.Mark,
        _ chunkSize: Int,
        to state: Monitor<State>
    ) -> Bool {
        let (isWanted, notify) = state.wait { state -> (Bool, (@Sendable () -> Void)?)? in
            if state.isCancelled { return (false, nil) }
            if state.chunk.isEmpty {
                swap(&state.chunk, &chunk)
            } else if chunk.count <= Self.smallCount, state.chunk.count + chunk.count <= chunkSize {
                state.chunk += chunk
                chunk.removeAll(keepingCapacity: true)
            } else {
                return nil
            }
            state.mark = mark
            defer { state.notify = nil }
            return (true, state.notify)
        }
        notify?()
        return isWanted
    }

    /// Puts the outcome behind what waits to be taken, and tells the taker.
    private static func end(_ state: Monitor<State>, _ outcome: Step) {
        let notify = state.update { state -> (@Sendable () -> Void)? in
            if state.isCancelled { return nil }
            state.outcome = outcome
            defer { state.notify = nil }
            return state.notify
        }
        notify?()
    }
}
