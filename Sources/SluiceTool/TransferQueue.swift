internal import Synchronization

/// Which of a command's transfers is next, and which have failed.
final class TransferQueue: Sendable {
    private let count: Int
    private let state = Mutex((next: 0, failures: [Int: ToolError]()))

    /// Makes a queue of so many transfers.
    init(_ count: Int) {
        self.count = count
    }

    /// The number of the next transfer, from 0; nil behind the last.
    func next() -> Int? {
        state.withLock { state in
            guard state.next < count else { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }

    /// Keeps the error of a transfer.
    func add(_ error: ToolError, of number: Int) {
        state.withLock { $0.failures[number] = error }
    }

    /// The errors of those that failed, by their numbers.
    var failures: [Int: ToolError] { state.withLock(\.failures) }
}
