internal import Synchronization

/// The way of an answer's bytes from the client's thread to the task that takes them, with back-pressure.
///
/// The thread adds bytes to one buffer up to its capacity, and pauses the transfer where they do not fit; the task takes
/// the buffer whole, so that there are as few chunks as it is slow.
final class ChunkChannel: Sendable {
    typealias Head = Result<CurlResponse, TransferError>
    typealias Chunk = Result<[UInt8]?, TransferError>

    private struct State {
        var head: CurlResponse?
        var bytes: [UInt8] = []
        /// For how many bytes room is made at first, so that they are seldom copied as they become more: by what was taken at a
        /// time lately.
        var room = 0
        /// How the body came to its end, once it has.
        var end: Result<Void, TransferError>?
        var headWaiter: CheckedContinuation<Head, Never>?
        var chunkWaiters: [CheckedContinuation<Chunk, Never>] = []
        /// Called when there is room again, while the transfer is paused.
        var onRoom: (@Sendable () -> Void)?
    }

    /// The most bytes that room is made for before they come.
    private static let mostRoom = 1024 * 1024

    private let capacity: Int
    private let state = Mutex(State())

    /// Makes a channel.
    ///
    /// - Parameter capacity: The most bytes that wait to be taken; a single addition may have more.
    init(capacity: Int) {
        self.capacity = capacity
    }

    // MARK: From the client's thread

    /// Says what the answer is.
    func begin(_ head: CurlResponse) {
        let waiter = state.withLock { state in
            state.head = head
            defer { state.headWaiter = nil }
            return state.headWaiter
        }
        waiter?.resume(returning: .success(head))
    }

    /// Adds bytes, which wait for ``flush()``.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, which are copied.
    ///   - onRoom: Called, from another thread, when they are to be offered again.
    /// - Returns: False where they do not fit, and nothing was added.
    func add(_ bytes: UnsafeRawBufferPointer, onRoom: @escaping @Sendable () -> Void) -> Bool {
        let (isAdded, delivery) = state.withLock { state -> (Bool, Delivery?) in
            var delivery: Delivery?
            if !state.bytes.isEmpty, state.bytes.count + bytes.count > capacity {
                delivery = Self.deliver(&state)
                guard delivery != nil else {
                    state.onRoom = onRoom
                    return (false, nil)
                }
            }
            if state.bytes.isEmpty { state.bytes.reserveCapacity(max(min(state.room, capacity), bytes.count)) }
            unsafe state.bytes.append(contentsOf: bytes)
            return (true, delivery)
        }
        delivery?.make()
        return isAdded
    }

    /// Hands what was added to a task that waits for it.
    ///
    /// Once for all that came at a time: to wake up a task takes longer than libcurl takes for a piece.
    func flush() {
        state.withLock { Self.deliver(&$0) }?.make()
    }

    /// Says that there are no more bytes, and why.
    func finish(_ end: Result<Void, TransferError>) {
        let (delivery, headWaiter, chunkWaiters) = state.withLock { state in
            let delivery = Self.deliver(&state)
            if state.end == nil { state.end = end }
            state.onRoom = nil
            defer {
                state.headWaiter = nil
                state.chunkWaiters = []
            }
            return (delivery, state.headWaiter, state.chunkWaiters)
        }
        delivery?.make()
        if case .failure(let error) = end { headWaiter?.resume(returning: .failure(error)) }
        for waiter in chunkWaiters { waiter.resume(returning: end.map { nil }) }
    }

    /// Bytes, and the task that gets them once the lock is let go.
    private struct Delivery: Sendable {
        let waiter: CheckedContinuation<Chunk, Never>
        let bytes: [UInt8]

        func make() { waiter.resume(returning: .success(bytes)) }
    }

    private static func deliver(_ state: inout State) -> Delivery? {
        guard !state.bytes.isEmpty, !state.chunkWaiters.isEmpty else { return nil }
        return Delivery(waiter: state.chunkWaiters.removeFirst(), bytes: take(&state))
    }

    private static func take(_ state: inout State) -> [UInt8] {
        defer { state.bytes = [] }
        state.room = min(max(2 * state.bytes.count, state.room - state.room / 4), mostRoom)
        return state.bytes
    }

    // MARK: From the task

    /// The answer's head, waited for.
    func head() async -> Head {
        await withCheckedContinuation { continuation in
            let ready = state.withLock { state -> Head? in
                if let head = state.head { return .success(head) }
                if case .failure(let error) = state.end { return .failure(error) }
                state.headWaiter = continuation
                return nil
            }
            if let ready { continuation.resume(returning: ready) }
        }
    }

    /// All bytes that have come, waited for; none behind the last ones.
    func next() async -> Chunk {
        await withCheckedContinuation { continuation in
            let (ready, onRoom) = state.withLock { state -> (Chunk?, (@Sendable () -> Void)?) in
                if !state.bytes.isEmpty {
                    defer { state.onRoom = nil }
                    return (.success(Self.take(&state)), state.onRoom)
                }
                if let end = state.end { return (end.map { nil }, nil) }
                state.chunkWaiters.append(continuation)
                return (nil, nil)
            }
            onRoom?()
            if let ready { continuation.resume(returning: ready) }
        }
    }
}
