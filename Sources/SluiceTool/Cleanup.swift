internal import Synchronization

/// What has to be undone if the tool ends early: temporary files, a terminal without echo, half a line.
///
/// Whoever changes something outside the process registers here how to change it back. It is done once, by whoever
/// comes first: the command itself, or the main thread that takes signals.
enum Cleanup {
    struct Token: Hashable, Sendable {
        fileprivate let number: Int
    }

    private static let actions = Mutex((next: 0, pending: [Token: @Sendable () -> Void]()))

    /// Registers an action.
    ///
    /// - Parameter action: What to do; on any thread.
    /// - Returns: What ``run(_:)`` and ``forget(_:)`` take.
    static func add(_ action: @escaping @Sendable () -> Void) -> Token {
        actions.withLock { state in
            state.next += 1
            let token = Token(number: state.next)
            state.pending[token] = action
            return token
        }
    }

    /// Runs an action, unless it was run or forgotten before.
    static func run(_ token: Token) {
        actions.withLock { $0.pending.removeValue(forKey: token) }?()
    }

    /// Makes an action no longer necessary.
    static func forget(_ token: Token) {
        _ = actions.withLock { $0.pending.removeValue(forKey: token) }
    }

    /// Runs every action that is left, the latest first: what is in a directory goes before the directory.
    static func runAll() {
        let pending = actions.withLock { state in
            defer { state.pending = [:] }
            return state.pending
        }
        for (_, action) in pending.sorted(by: { $0.key.number > $1.key.number }) { action() }
    }
}
