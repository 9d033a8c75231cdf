/// Reads a body on a thread of its own, one chunk ahead of whoever takes the chunks.
///
/// For sinks that must not wait themselves: Swift's shared thread pool, an event loop. The thread is started by the
/// first ``take(notify:)`` and ends at the body's end, at an error, and after ``cancel()``.
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
        var ready: Step?
        var isStarted = false
        var isCancelled = false
        var notify: (@Sendable () -> Void)?
    }

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
            guard let ready = state.ready else {
                state.notify = notify
                defer { state.isStarted = true }
                return (.pending, !state.isStarted)
            }
            if case .chunk = ready { state.ready = nil }
            return (ready, false)
        }
        if startsThread { start() }
        return step
    }

    /// Ends the reading: a source that waits is interrupted, the thread ends, and every later step is a failure.
    package func cancel() {
        interrupt.trigger()
        let notify = state.update { state in
            state.isCancelled = true
            state.ready = nil
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
            Self.deliver(.failed(MultipartError(.resourcesExhausted, "no thread to read on", error)), to: state)
        }
    }

    private static func run(
        _ state: Monitor<State>,
        _ chunkSize: Int,
        makeReader: () throws(MultipartError) -> BodyReader
    ) {
        do {
            let reader = try makeReader()
            while true {
                var chunk: [UInt8] = []
                let count = try reader.read(appendingTo: &chunk, upTo: chunkSize)
                if count == 0 { break }
                guard deliver(.chunk(chunk, at: reader.mark), to: state) else { return }
            }
            deliver(.end, to: state)
        } catch {
            deliver(.failed(error), to: state)
        }
    }

    /// Waits until the step before was taken, puts this one in its place, and tells the taker.
    ///
    /// - Returns: Whether anybody still wants more.
    @discardableResult
    private static func deliver(_ step: Step, to state: Monitor<State>) -> Bool {
        let (isWanted, notify) = state.wait { state -> (Bool, (@Sendable () -> Void)?)? in
            if state.isCancelled { return (false, nil) }
            guard state.ready == nil else { return nil }
            state.ready = step
            defer { state.notify = nil }
            return (true, state.notify)
        }
        notify?()
        return isWanted
    }
}
