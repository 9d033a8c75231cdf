internal import CCurl
internal import Sluice

/// The thread's own side of the event loop: the multi handle, and the transfers that it has.
///
/// Made, used and released on that thread.
final class TransferLoop {
    private let eventLoop: EventLoop
    private let multi: MultiHandle
    private let surroundings: Transfer.Surroundings
    private var transfers: [Int: Entry] = [:]
    /// When the transfers' limits and waits are to be looked at; nil for at once.
    private var nextCheck: TransferLimits.Instant?
    private var isShuttingDown = false

    /// A transfer, and who has it.
    private struct Entry {
        let transfer: Transfer
        var phase: Phase

        var isRunning: Bool { if case .running = phase { true } else { false } }
    }

    private enum Phase {
        /// A disk thread opens its file.
        case opening
        /// libcurl moves its bytes.
        case running
        /// It waits for another attempt.
        case waiting(until: TransferLimits.Instant)
        /// A disk thread puts its file in its place; if it is to end before that, then with this error.
        case committing(CurlResponse, TransferError?)
        /// A disk thread closes its file.
        case closing(TransferError)
    }

    /// As long as a thread without work sleeps; it is woken up for commands.
    private static let longestSleep = Duration.seconds(3600)
    /// The memory for all upload buffers, which few transfers do not use up, and many share.
    private static let bufferMemory = 64 * 1024 * 1024

    init(_ eventLoop: EventLoop, _ multi: MultiHandle) {
        self.eventLoop = eventLoop
        self.multi = multi
        surroundings = Transfer.Surroundings(
            lastWords: LastWords(),
            diskThreads: eventLoop.diskThreads,
            userAgent: eventLoop.configuration.userAgent
        ) { eventLoop.send($0) }
    }

    /// Does what there is to do until it is told to shut down and all transfers are over.
    func run() {
        while true {
            for command in eventLoop.takeCommands() { obey(command) }
            if isShuttingDown, transfers.isEmpty { return }
            guard check(multi.perform()) else { return }
            surroundings.fullSinks.flush()
            completeTransfers()
            if isShuttingDown, transfers.isEmpty { return }
            guard check(multi.wait(milliseconds: checkLimits())) else { return }
        }
    }

    private func obey(_ command: EventLoop.Command) {
        switch command {
        case .add(let ticket): add(ticket)
        case .cancel(let id): end(id, .cancelled, "the transfer was cancelled")
        case .resume(let id):
            // libcurl hands over at once what it has held back.
            if let entry = transfers[id], entry.isRunning { entry.transfer.handle.resume() }
        case .disk(let id, let event): hear(event, of: id)
        case .finish: isShuttingDown = true
        case .shutDown:
            isShuttingDown = true
            for id in transfers.keys.sorted() { end(id, .clientClosed, "the client was closed during the transfer") }
        }
    }

    // MARK: Beginning

    private func add(_ ticket: TransferTicket) {
        do throws(TransferError) {
            guard !ticket.isCancelled else {
                throw TransferError(
                    .cancelled,
                    "the transfer was cancelled before it began",
                    url: Redaction.url(ticket.request.url)
                )
            }
            let transfer = try Transfer(ticket, surroundings)
            transfers[ticket.id] = Entry(transfer: transfer, phase: .opening)
            if let file = transfer.sink as? FileSink {
                file.open()
                // Its time counts from now on.
                nextCheck = nil
            } else {
                start(transfer)
            }
        } catch {
            ticket.meter?.finish(completed: false)
            ticket.complete(.failure(error))
        }
    }

    /// Hands a transfer to libcurl for its next request.
    private func start(_ transfer: Transfer) {
        let id = transfer.ticket.id
        do throws(TransferError) {
            try transfer.prepare(share: Self.bufferMemory / max(transfers.count, 1))
            let code = multi.add(transfer.handle)
            guard code == CURLM_OK else {
                throw transfer.error(.resourcesExhausted, "libcurl takes no more transfers: \(Self.text(code))")
            }
            transfers[id]?.phase = .running
            nextCheck = nil
        } catch {
            conclude(transfer, .failure(error))
        }
    }

    /// Takes what libcurl has come to the end of, which closes no connection that is of further use.
    private func completeTransfers() {
        while let (id, code) = multi.nextDone() {
            guard let transfer = transfers[id]?.transfer else { continue }
            multi.remove(transfer.handle)
            take(transfer.complete(code), of: transfer)
        }
        surroundings.lastWords.forget()
    }

    private func take(_ step: Transfer.Step, of transfer: Transfer) {
        switch step {
        case .again: start(transfer)
        case .retry(let notice): wait(transfer, notice)
        case .commit(let response):
            transfers[transfer.ticket.id]?.phase = .committing(response, nil)
            (transfer.sink as? FileSink)?.commit()
        case .done(let result): conclude(transfer, result)
        }
    }

    private func wait(_ transfer: Transfer, _ notice: RetryNotice) {
        transfer.ticket.onRetry?(notice)
        (transfer.sink as? FileSink)?.flush()
        transfers[transfer.ticket.id]?.phase = .waiting(until: .now + notice.delay)
        nextCheck = nil
    }

    private func hear(_ event: FileWriter.Event, of id: Int) {
        guard let entry = transfers[id] else { return }
        let transfer = entry.transfer
        switch (event, entry.phase) {
        case (.opened(let point), .opening):
            transfer.opened(point)
            start(transfer)
        case (.room, .running): transfer.handle.resume()
        case (.failed(let error), .opening), (.failed(let error), .running), (.failed(let error), .waiting),
            (.failed(let error), .committing(_, nil)), (.failed, .committing(_, let error?)):
            if entry.isRunning { multi.remove(transfer.handle) }
            conclude(transfer, .failure(error.adding("", url: transfer.url)))
        case (.committed(let path, let count), .committing(let response, _)):
            transfers[id] = nil
            transfer.finish(.success(response), file: transfer.file(at: path, count, response))
        case (.closed, .committing(_, let error?)), (.closed, .closing(let error)):
            transfers[id] = nil
            transfer.finish(.failure(error))
        default: break
        }
    }

    // MARK: Ending

    /// Tells whoever waits, behind the closing of the transfer's file.
    private func conclude(_ transfer: Transfer, _ result: Result<CurlResponse, TransferError>) {
        let id = transfer.ticket.id
        if case .failure(let error) = result, let file = transfer.sink as? FileSink {
            transfers[id]?.phase = .closing(error)
            file.abandon(keeps: true)
        } else {
            transfers[id] = nil
            transfer.finish(result)
        }
    }

    /// Ends a transfer early, which closes its connection.
    private func end(_ id: Int, _ code: TransferError.Code, _ reason: String) {
        if let error = transfers[id]?.transfer.error(code, reason) { end(id, error) }
    }

    private func end(_ id: Int, _ error: TransferError) {
        guard let entry = transfers[id] else { return }
        let transfer = entry.transfer
        switch entry.phase {
        case .running:
            multi.remove(transfer.handle)
            conclude(transfer, .failure(error))
        case .opening, .waiting: conclude(transfer, .failure(error))
        case .committing(let response, nil):
            // Unless the file has its name already.
            transfers[id]?.phase = .committing(response, error)
            (transfer.sink as? FileSink)?.abandon(keeps: true)
        case .committing, .closing: break
        }
    }

    /// Begins the attempts whose wait is over, and ends the transfers whose time is up.
    ///
    /// - Returns: The milliseconds until the next look.
    private func checkLimits() -> Int32 {
        let now = SuspendingClock.now
        if let nextCheck, now < nextCheck { return Self.milliseconds(from: now, to: nextCheck) }
        var next = now + Self.longestSleep
        for (id, entry) in transfers {
            let transfer = entry.transfer
            switch entry.phase {
            case .closing: continue
            case .waiting(let instant) where instant <= now:
                do throws(TransferError) {
                    try transfer.beginAttempt()
                    start(transfer)
                } catch {
                    conclude(transfer, .failure(error))
                }
                // What was started is to be moved at once.
                next = now
                continue
            case .waiting(let instant): next = min(next, instant)
            case .opening, .running, .committing: break
            }
            if let passed = transfer.passedLimit(at: now, isRunning: entry.isRunning) {
                let error = transfer.error(passed)
                if entry.isRunning {
                    multi.remove(transfer.handle)
                    take(transfer.giveUp(error), of: transfer)
                    next = now
                } else {
                    end(id, error)
                }
            } else if let check = transfer.nextLimitCheck(after: now) {
                next = min(next, check)
            }
        }
        nextCheck = next
        return Self.milliseconds(from: now, to: next)
    }

    /// Ends everything where libcurl itself fails, which it does only out of memory.
    private func check(_ code: CURLMcode) -> Bool {
        if code == CURLM_OK { return true }
        for id in transfers.keys.sorted() {
            guard let entry = transfers.removeValue(forKey: id) else { continue }
            let transfer = entry.transfer
            if entry.isRunning { multi.remove(transfer.handle) }
            (transfer.sink as? FileSink)?.abandon(keeps: true)
            transfer.finish(.failure(transfer.error(.resourcesExhausted, "libcurl failed: \(Self.text(code))")))
        }
        return false
    }

    /// Rounded up, so that the look is not a moment too early and then taken again and again.
    private static func milliseconds(from now: TransferLimits.Instant, to next: TransferLimits.Instant) -> Int32 {
        let duration = max(min(next - now, longestSleep), .zero).components
        let whole = duration.seconds * 1000 + duration.attoseconds / 1_000_000_000_000_000
        return Int32(duration == (0, 0) ? 0 : whole + 1)
    }

    private static func text(_ code: CURLMcode) -> String {
        unsafe String(cString: curl_multi_strerror(code))
    }
}
