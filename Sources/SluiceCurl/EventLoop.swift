internal import Sluice
internal import Synchronization

/// The way from any thread to the one that does the transfers.
///
/// All handles of libcurl's are touched on that thread only; others leave a command and wake it up. The thread keeps
/// this object alive, not the other way round, and ends when it is told to shut down.
final class EventLoop: Sendable {
    /// What the thread is told to do.
    enum Command: Sendable {
        case add(TransferTicket)
        case cancel(id: Int)
        /// A paused transfer's body has bytes again.
        case resume(id: Int)
        /// Something happened to a download's file.
        case disk(id: Int, FileWriter.Event)
        /// Take no more transfers, and end when the last one is over.
        case finish
        /// End all transfers.
        case shutDown

        var isAddition: Bool { if case .add = self { true } else { false } }
    }

    private enum Phase {
        case notStarted, running, closing, ended
    }

    private struct State {
        var phase = Phase.notStarted
        var commands: [Command] = []
        /// What there is to be woken up, while the thread has it.
        var multi: MultiHandle?
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    let configuration: CurlClient.Configuration
    let diskThreads = DiskThreads()
    private let state: Mutex<State>

    /// Makes a loop, whose thread is started by the first transfer.
    init(_ configuration: CurlClient.Configuration) {
        self.configuration = configuration
        state = Mutex(State())
    }

    // MARK: From any thread

    /// Starts a transfer, and tells its ticket also that there is no thread or that the loop was closed.
    func submit(_ ticket: TransferTicket) {
        let before = state.withLock { state in
            defer {
                if state.phase == .notStarted { state.phase = .running }
                if state.phase == .running { state.commands.append(.add(ticket)) }
            }
            return state.phase
        }
        switch before {
        case .notStarted: startThread()
        case .running: wake()
        case .closing, .ended: ticket.complete(.failure(.clientClosed(ticket)))
        }
    }

    /// Leaves a command; one that comes too late has no effect.
    func send(_ command: Command) {
        state.withLock { state in
            if state.phase == .running || state.phase == .closing { state.commands.append(command) }
        }
        wake()
    }

    /// Ends all transfers and the thread, and waits for neither.
    func shutDown() {
        state.withLock { Self.beginClosing(&$0, .shutDown) }
        wake()
    }

    /// Ends the thread, and waits for it.
    ///
    /// - Parameter finishing: Whether the transfers that run come to their end before.
    func shutDownAndWait(finishing: Bool) async {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                Self.beginClosing(&state, finishing ? .finish : .shutDown)
                if state.phase != .ended { state.waiters.append(continuation) }
                return state.phase == .ended
            }
            if hasEnded { continuation.resume() } else { wake() }
        }
    }

    private static func beginClosing(_ state: inout State, _ command: Command) {
        switch state.phase {
        case .notStarted: state.phase = .ended
        case .running, .closing:
            state.phase = .closing
            state.commands.append(command)
        case .ended: break
        }
    }

    private func wake() {
        state.withLock { state in
            // Before the thread has its handle, it has not looked at the commands either.
            state.multi?.wake()
        }
    }

    // MARK: From the thread

    /// Takes what there is to do, oldest first.
    func takeCommands() -> [Command] {
        state.withLock { state in
            defer { state.commands = [] }
            return state.commands
        }
    }

    private func startThread() {
        do {
            try WorkerThread.start("sluice-curl") { self.run() }
        } catch {
            let commands = state.withLock { state in
                // The next transfer may have better luck.
                state.phase = state.phase == .closing ? .ended : .notStarted
                defer { state.commands = [] }
                return state.commands
            }
            for case .add(let ticket) in commands {
                ticket.complete(
                    .failure(TransferError(.resourcesExhausted, "there is no thread for the transfers: \(error)"))
                )
            }
            resumeWaiters()
        }
    }

    private func run() {
        while true {
            let multi = MultiHandle(configuration)
            if let multi { move(multi) }
            let end = state.withLock { state -> (commands: [Command], wasClosed: Bool)? in
                // Where libcurl failed, the transfers that came meanwhile may have better luck.
                if multi != nil, state.phase == .running, state.commands.contains(where: \.isAddition) { return nil }
                let wasClosed = state.phase == .closing
                state.phase = wasClosed ? .ended : .notStarted
                defer { state.commands = [] }
                return (state.commands, wasClosed)
            }
            if let end { return finish(end.commands, wasClosed: end.wasClosed) }
        }
    }

    /// Moves transfers until there are no more to come, or libcurl has failed.
    private func move(_ multi: MultiHandle) {
        state.withLock { $0.multi = multi }
        let loop = TransferLoop(self, multi)
        loop.run()
        state.withLock { $0.multi = nil }
        // Closing the connections still asks for the loop's last words.
        withExtendedLifetime(loop) { multi.destroy() }
    }

    /// Tells whoever still waits for the thread, which has ended.
    private func finish(_ commands: [Command], wasClosed: Bool) {
        let failure = TransferError(.resourcesExhausted, "libcurl failed; are there memory and descriptors left?")
        for case .add(let ticket) in commands {
            ticket.complete(.failure(wasClosed ? .clientClosed(ticket) : failure))
        }
        resumeWaiters()
    }

    private func resumeWaiters() {
        let waiters = state.withLock { state in
            guard state.phase == .ended else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}

extension TransferError {
    /// The error for a transfer that a closed client is asked for.
    static func clientClosed(_ ticket: TransferTicket) -> TransferError {
        TransferError(.clientClosed, "the client was closed; make another one", url: Redaction.url(ticket.request.url))
    }
}
