internal import Synchronization

/// The way of events from the client's thread to the task that iterates over them.
///
/// It holds one report of progress, the newest, and the few other events that a transfer has: however slow the task is,
/// nothing piles up.
final class EventChannel<Event: Sendable>: Sendable {
    private struct State {
        var events: [(event: Event, isProgress: Bool)] = []
        var waiter: CheckedContinuation<Event, Never>?
    }

    private let state = Mutex(State())

    /// Adds an event; a report of progress takes the place of one that nobody has taken.
    func send(_ event: Event, isProgress: Bool) {
        let waiter = state.withLock { state -> CheckedContinuation<Event, Never>? in
            if let waiter = state.waiter {
                state.waiter = nil
                return waiter
            }
            if isProgress { state.events.removeAll(where: \.isProgress) }
            state.events.append((event, isProgress))
            return nil
        }
        waiter?.resume(returning: event)
    }

    /// The next event, waited for.
    ///
    /// For one task at a time, and no more once the last one was taken.
    func next() async -> Event {
        await withCheckedContinuation { continuation in
            let ready = state.withLock { state -> Event? in
                if !state.events.isEmpty { return state.events.removeFirst().event }
                state.waiter = continuation
                return nil
            }
            if let ready { continuation.resume(returning: ready) }
        }
    }
}
