internal import Synchronization

/// Ends a read that waits for a pipe, a socket or an async sequence, from any thread.
///
/// Give one to ``MultipartBody/makeReader(startingAt:interrupt:)``; after ``trigger()`` the reader's current and later
/// reads throw ``MultipartError/Code/cancelled``. A generator or source of your own that blocks inside its own code
/// is not reached: the read ends when that code returns.
public final class ReadInterrupt: Sendable {
    private struct State {
        var isTriggered = false
        var handlers: [Int: @Sendable () -> Void] = [:]
        var nextToken = 0
    }

    private let state = Mutex(State())

    /// Makes an interrupt that is not triggered.
    public init() {}

    /// Whether ``trigger()`` was called.
    public var isTriggered: Bool {
        state.withLock { $0.isTriggered }
    }

    /// Ends the current and every later read of the readers that have this interrupt.
    ///
    /// Later calls do nothing.
    public func trigger() {
        let handlers = state.withLock { state in
            state.isTriggered = true
            defer { state.handlers = [:] }
            return state.handlers
        }
        for handler in handlers.values { handler() }
    }

    /// Calls `handler` once when triggered, which may be at once.
    ///
    /// - Returns: What ``removeHandler(_:)`` takes.
    func onTrigger(_ handler: @escaping @Sendable () -> Void) -> Int {
        let token: Int? = state.withLock { state in
            if state.isTriggered { return nil }
            state.nextToken += 1
            state.handlers[state.nextToken] = handler
            return state.nextToken
        }
        if token == nil { handler() }
        return token ?? 0
    }

    func removeHandler(_ token: Int) {
        _ = state.withLock { $0.handlers.removeValue(forKey: token) }
    }

    func check() throws(MultipartError) {
        if isTriggered { throw .cancelledRead }
    }
}

extension MultipartError {
    static var cancelledRead: MultipartError { MultipartError(.cancelled, "the read was cancelled") }
}
