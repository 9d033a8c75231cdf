/// Writes a file on a thread of its own, for a task that must not wait for disks.
///
/// The thread begins with ``start()``. ``finish()`` or ``abandon()`` ends it, and has to be called; both return when the
/// file has its name or is gone.
final class FileSaver: Sendable {
    private struct State {
        var queue: [HeldBytes] = []
        var queuedBytes = 0
        var isFinishing = false
        var isAbandoned = false
        var outcome: Result<Void, MultipartError>?
        /// Wakes the task, which waits for room or for the outcome.
        var notify: CheckedContinuation<Void, Never>?
    }

    private enum Work: Sendable {
        case write([HeldBytes])
        case finish
        case abandon
    }

    private let state = Monitor(State())
    private let path: String
    private let replacing: Bool
    /// The bytes in the queue beyond which the task waits: while the thread writes as many, the task reads on.
    private let mostQueued = 256 << 10

    init(path: String, replacing: Bool) {
        self.path = path
        self.replacing = replacing
    }

    func start() throws(MultipartError) {
        do {
            try WorkerThread.start("sluice-save") { self.run() }
        } catch {
            throw MultipartError(.resourcesExhausted, "no thread to write on", error)
        }
    }

    /// Queues bytes, and waits while there are too many.
    func append(_ bytes: HeldBytes) async throws(MultipartError) {
        state.update { state in
            state.queue.append(bytes)
            state.queuedBytes += bytes.count
        }
        try await wait { $0.queuedBytes < self.mostQueued }
    }

    /// Writes what is queued, and gives the file its name.
    func finish() async throws(MultipartError) {
        state.update { $0.isFinishing = true }
        try await wait { _ in false }
    }

    /// Removes the file.
    func abandon() async {
        state.update { $0.isAbandoned = true }
        try? await wait { _ in false }
    }

    /// Waits for the condition or the outcome, cancelled or not: what it waits for is the disk only.
    private func wait(until condition: @Sendable (borrowing State) -> Bool) async throws(MultipartError) {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isDue = state.update { state in
                if state.outcome != nil || condition(state) { return true }
                state.notify = continuation
                return false
            }
            if isDue { continuation.resume() }
        }
        try state.update { $0.outcome }?.get()
    }

    // MARK: The thread

    private func run() {
        let outcome: Result<Void, MultipartError>
        do throws(MultipartError) {
            try write()
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        state.update { state in
            state.outcome = outcome
            state.queue = []
            defer { state.notify = nil }
            return state.notify
        }?.resume()
    }

    /// Writes what comes, until the end; the file is closed on return.
    private func write() throws(MultipartError) {
        let file = try NewFile(path, replacing: replacing ? .name : .nothing)
        try file.create()
        while true {
            switch nextWork() {
            case .write(let pieces): for piece in pieces { try Self.append(piece, to: file) }
            case .finish: return try file.commit()
            case .abandon: throw .cancelledRead
            }
        }
    }

    private static func append(_ piece: HeldBytes, to file: NewFile) throws(MultipartError) {
        let outcome = unsafe piece.withBytes { bytes in
            Result { () throws(MultipartError) in unsafe try file.append(bytes) }
        }
        try outcome.get()
    }

    private func nextWork() -> Work {
        let (work, notify) = state.wait { state -> (Work, CheckedContinuation<Void, Never>?)? in
            if state.isAbandoned { return (.abandon, nil) }
            if state.queue.isEmpty { return state.isFinishing ? (.finish, nil) : nil }
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
