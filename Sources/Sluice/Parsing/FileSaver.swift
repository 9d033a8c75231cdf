internal import Synchronization

/// Writes a file on one of the threads for that, for a task that must not wait for disks.
///
/// ``start()`` is first, and ``finish()`` or ``abandon()`` has to follow; both return when the file has its name or is
/// gone. A thread is taken while there is something to write, so that saves which wait for their senders hold none.
final class FileSaver: Sendable {
    private struct State {
        var queue: [HeldBytes] = []
        /// What the queue counts for, see ``mostQueued``.
        var queuedBytes = 0
        /// Whether a thread is at work or about to be: one at a time.
        var isAtWork = false
        var isFinishing = false
        var isAbandoned = false
        var outcome: Result<Void, MultipartError>?
        /// Wakes the task, which waits for room or for the outcome.
        var notify: CheckedContinuation<Void, Never>?

        /// Whether a thread is needed that is not yet at work.
        mutating func needsThread() -> Bool {
            guard !isAtWork, outcome == nil else { return false }
            isAtWork = true
            return true
        }
    }

    private enum Work: Sendable {
        case write([HeldBytes])
        case finish
        case abandon
        case rest
    }

    // @unchecked Sendable: used by the thread that is at work only. One follows another by the lock of `DiskThreads`, where
    // the first leaves the next job, or by that of `state`, where it says that it is done.
    private final class Output: @unchecked Sendable {
        var file: NewFile?
    }

    private let state = Mutex(State())
    private let output = Output()
    private let path: String
    private let replacing: Bool

    /// The bytes in the queue beyond which the task waits: while a thread writes as many, the task reads on.
    private static let mostQueued = 256 << 10
    /// What a piece counts for at least, because it may hold a buffer that is much larger: there are 16 at most.
    private static let leastCounted = 16 << 10

    /// All that this process saves at a time.
    private static let threads = DiskThreads()

    init(path: String, replacing: Bool) {
        self.path = path
        self.replacing = replacing
    }

    func start() throws(MultipartError) {
        do {
            try Self.threads.beginFile()
        } catch {
            throw MultipartError(.resourcesExhausted, "no thread to write on", error)
        }
    }

    /// Queues bytes, and waits while there are too many.
    func append(_ bytes: HeldBytes) async throws(MultipartError) {
        wakeThread { state in
            state.queue.append(bytes)
            state.queuedBytes += max(bytes.count, Self.leastCounted)
        }
        try await wait { $0.queuedBytes < Self.mostQueued }
    }

    /// Writes what is queued, and gives the file its name.
    func finish() async throws(MultipartError) {
        wakeThread { $0.isFinishing = true }
        try await wait { _ in false }
    }

    /// Removes the file.
    func abandon() async {
        wakeThread { $0.isAbandoned = true }
        try? await wait { _ in false }
    }

    private func wakeThread(_ change: (inout State) -> Void) {
        let needsThread = state.withLock { state in
            change(&state)
            return state.needsThread()
        }
        if needsThread { Self.threads.run { self.work() } }
    }

    /// Waits for the condition or the outcome, cancelled or not: what it waits for is the disk only.
    private func wait(until condition: @Sendable (borrowing State) -> Bool) async throws(MultipartError) {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isDue = state.withLock { state in
                if state.outcome != nil || condition(state) { return true }
                state.notify = continuation
                return false
            }
            if isDue { continuation.resume() }
        }
        try state.withLock { $0.outcome }?.get()
    }

    // MARK: On a thread

    /// Does what is next; what follows it waits behind the other files, so that none keeps a thread to its end.
    private func work() {
        do throws(MultipartError) {
            switch nextWork() {
            case .write(let pieces):
                try write(pieces)
                Self.threads.run { self.work() }
            case .finish:
                try openFile().commit()
                end(.success(()))
            case .abandon: throw .cancelledRead
            case .rest: break
            }
        } catch {
            end(.failure(error))
        }
    }

    private func write(_ pieces: [HeldBytes]) throws(MultipartError) {
        let file = try openFile()
        for piece in pieces {
            let outcome = unsafe piece.withBytes { bytes in
                Result { () throws(MultipartError) in unsafe try file.append(bytes) }
            }
            try outcome.get()
        }
    }

    private func openFile() throws(MultipartError) -> NewFile {
        if let file = output.file { return file }
        let file = try NewFile(path, replacing: replacing ? .name : .nothing)
        try file.create()
        output.file = file
        return file
    }

    private func end(_ outcome: Result<Void, MultipartError>) {
        // Closed, and removed unless it has its name, before anybody is told.
        output.file = nil
        Self.threads.endFile()
        state.withLock { state in
            state.outcome = outcome
            state.queue = []
            defer { state.notify = nil }
            return state.notify
        }?.resume()
    }

    private func nextWork() -> Work {
        let (work, notify) = state.withLock { state -> (Work, CheckedContinuation<Void, Never>?) in
            if state.isAbandoned { return (.abandon, nil) }
            if state.queue.isEmpty {
                if state.isFinishing { return (.finish, nil) }
                state.isAtWork = false
                return (.rest, nil)
            }
            // Behind the last bytes the task waits for the outcome, not for room.
            let notify = state.isFinishing ? nil : state.notify
            if notify != nil { state.notify = nil }
            defer { (state.queue, state.queuedBytes) = ([], 0) }
            return (.write(state.queue), notify)
        }
        notify?.resume()
        return work
    }
}
