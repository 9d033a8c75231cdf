/// Lets a thread read an async sequence: a task awaits the sequence, and hands its chunks over one at a time.
///
/// Back-pressure holds both ways: the task does not ask for a chunk before the last one was taken, and the thread
/// sleeps until there is one. Releasing the cursor, or the interrupt, cancels the task.
final class AsyncHandoff: ByteCursor {
    private struct State {
        var chunk: HeldBytes?
        var failure: MultipartError?
        var isFinished = false
        var isCancelled = false
        /// Whom to tell, once, that ``take()`` does not wait any more.
        var notify: (@Sendable () -> Void)?
        /// The task, waiting until `chunk` is taken.
        var producer: CheckedContinuation<Void, Never>?
    }

    private let state: Monitor<State>
    private let task: Task<Void, Never>
    private let interrupt: ReadInterrupt?
    private let handler: Int

    /// What was taken last, and how much of it was read.
    private var current: HeldBytes?
    private var consumed = 0

    init(_ source: AsyncSource, interrupt: ReadInterrupt?) {
        let state = Monitor(State())
        let task = Self.startTask(source, state)
        self.state = state
        self.task = task
        self.interrupt = interrupt
        handler = interrupt?.onTrigger { Self.cancel(task, state) } ?? 0
    }

    deinit {
        interrupt?.removeHandler(handler)
        Self.cancel(task, state)
    }

    /// Says whether a read, or ``finish()``, would wait.
    ///
    /// - Parameter notify: Called once when it would not wait any more, mostly from another thread.
    /// - Returns: False where it would wait; else nothing is called.
    func isReady(notify: @escaping @Sendable () -> Void) -> Bool {
        if current != nil { return true }
        return state.update { state in
            let isReady = state.chunk != nil || state.failure != nil || state.isFinished || state.isCancelled
            state.notify = isReady ? nil : notify
            return isReady
        }
    }

    func read(into buffer: inout OutputRawSpan) throws(MultipartError) {
        while true {
            if let current {
                consumed += unsafe buffer.withUnsafeMutableBytes { bytes, initialized in
                    let target = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[initialized...])
                    let count = unsafe current.copy(from: consumed, into: target)
                    initialized += count
                    return count
                }
                if consumed == current.count {
                    self.current = nil
                    consumed = 0
                }
                return
            }
            guard let next = try take() else { return }
            current = next
        }
    }

    /// Waits for the end of a sequence that has given as many bytes as it declared; one more is an error of it.
    func finish() throws(MultipartError) {
        while try take() != nil {}
    }

    /// Waits for the next chunk; nil at the end.
    private func take() throws(MultipartError) -> HeldBytes? {
        let taken: Result<HeldBytes?, MultipartError> = state.wait { state in
            if state.isCancelled { return .failure(.cancelledRead) }
            if let chunk = state.chunk {
                state.chunk = nil
                state.producer?.resume()
                state.producer = nil
                return .success(chunk)
            }
            if let failure = state.failure { return .failure(failure) }
            return state.isFinished ? .success(nil) : nil
        }
        return try taken.get()
    }

    private static func cancel(_ task: Task<Void, Never>, _ state: Monitor<State>) {
        // In this order: a sequence that is cancelled may end at once, and its end must not be taken for the whole.
        change(state) { state in
            state.isCancelled = true
            state.chunk = nil
            state.producer?.resume()
            state.producer = nil
        }
        task.cancel()
    }

    private static func startTask(_ source: AsyncSource, _ state: Monitor<State>) -> Task<Void, Never> {
        Task { @concurrent in await produce(source, for: state) }
    }

    private static func produce(_ source: AsyncSource, for state: Monitor<State>) async {
        var failure: MultipartError?
        do {
            let chunks = try source.chunks()
            // Asked before looking, so that a sequence is asked once more after the cancellation: that is when an
            // AsyncStream notices, and calls its onTermination although others still hold it.
            while let chunk = try await chunks.next(), !Task.isCancelled {
                await withCheckedContinuation { continuation in
                    change(state) { state in
                        guard !state.isCancelled else { return continuation.resume() }
                        state.chunk = chunk
                        state.producer = continuation
                    }
                }
            }
        } catch {
            failure = error
        }
        change(state) { state in
            state.failure = failure
            state.isFinished = true
        }
    }

    /// Changes what ``take()`` waits for, and tells who does not wait.
    private static func change(_ state: Monitor<State>, _ body: (inout State) -> Void) {
        let notify = state.update { state in
            body(&state)
            defer { state.notify = nil }
            return state.notify
        }
        notify?()
    }
}
