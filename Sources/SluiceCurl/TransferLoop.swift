internal import CCurl
internal import Sluice

/// The thread's own side of the event loop: the multi handle, and the transfers that it has.
///
/// Made, used and released on that thread.
final class TransferLoop {
    private let eventLoop: EventLoop
    private let multi: MultiHandle
    private let lastWords = LastWords()
    private var transfers: [Int: Transfer] = [:]
    /// When the transfers' limits are to be looked at; nil for at once.
    private var nextCheck: TransferLimits.Instant?
    private var isShuttingDown = false

    /// As long as a thread without work sleeps; it is woken up for commands.
    private static let longestSleep = Duration.seconds(3600)

    init(_ eventLoop: EventLoop, _ multi: MultiHandle) {
        self.eventLoop = eventLoop
        self.multi = multi
    }

    /// Does what there is to do until it is told to shut down.
    func run() {
        while true {
            for command in eventLoop.takeCommands() { obey(command) }
            if isShuttingDown { break }
            guard check(multi.perform()) else { break }
            completeTransfers()
            guard check(multi.wait(milliseconds: checkLimits())) else { break }
        }
        endAll(.clientClosed, "the client was closed during the transfer")
    }

    private func obey(_ command: EventLoop.Command) {
        switch command {
        case .add(let ticket): add(ticket)
        case .cancel(let id): end(id, .cancelled, "the transfer was cancelled")
        case .resume(let id):
            transfers[id]?.handle.resume()
        case .shutDown: isShuttingDown = true
        }
    }

    private func add(_ ticket: TransferTicket) {
        do throws(TransferError) {
            guard !ticket.isCancelled else {
                throw TransferError(
                    .cancelled,
                    "the transfer was cancelled before it began",
                    url: Redaction.url(ticket.request.url)
                )
            }
            let (eventLoop, id) = (eventLoop, ticket.id)
            let transfer = try Transfer(ticket, lastWords, userAgent: eventLoop.configuration.userAgent) {
                eventLoop.send(.resume(id: id))
            }
            try hand(transfer)
        } catch {
            ticket.meter?.finish(completed: false)
            ticket.resume(.failure(error))
        }
    }

    /// Hands a prepared transfer to libcurl.
    private func hand(_ transfer: Transfer) throws(TransferError) {
        let code = multi.add(transfer.handle)
        guard code == CURLM_OK else {
            throw transfer.error(.resourcesExhausted, "libcurl takes no more transfers: \(Self.text(code))")
        }
        transfers[transfer.ticket.id] = transfer
        nextCheck = nil
    }

    /// Takes a transfer back from libcurl, which closes its connection unless it has come to its end.
    private func takeBack(_ id: Int) -> Transfer? {
        guard let transfer = transfers.removeValue(forKey: id) else { return nil }
        multi.remove(transfer.handle)
        return transfer
    }

    private func completeTransfers() {
        while let (id, code) = multi.nextDone() {
            guard let transfer = takeBack(id) else { continue }
            switch transfer.complete(code) {
            case .done(let result): transfer.finish(result)
            case .again:
                do { try hand(transfer) } catch { transfer.finish(.failure(error)) }
            }
        }
        lastWords.forget()
    }

    // MARK: Ending early

    private func end(_ id: Int, _ code: TransferError.Code, _ reason: String) {
        guard let transfer = takeBack(id) else { return }
        transfer.finish(.failure(transfer.error(code, reason)))
    }

    private func endAll(_ code: TransferError.Code, _ reason: String) {
        for id in transfers.keys.sorted() { end(id, code, reason) }
    }

    /// Ends the transfers whose time is up.
    ///
    /// - Returns: The milliseconds until the next look.
    private func checkLimits() -> Int32 {
        let now = SuspendingClock.now
        if let nextCheck, now < nextCheck { return Self.milliseconds(from: now, to: nextCheck) }
        var next = now + Self.longestSleep
        for (id, transfer) in transfers {
            if let passed = transfer.passedLimit(at: now) {
                let (code, reason) = transfer.explain(passed)
                end(id, code, reason)
            } else if let check = transfer.nextLimitCheck(after: now) {
                next = min(next, check)
            }
        }
        nextCheck = next
        return Self.milliseconds(from: now, to: next)
    }

    /// Rounded up, so that the look is not a moment too early and then taken again and again.
    private static func milliseconds(from now: TransferLimits.Instant, to next: TransferLimits.Instant) -> Int32 {
        let duration = max(min(next - now, longestSleep), .zero).components
        return Int32(duration.seconds * 1000 + duration.attoseconds / 1_000_000_000_000_000 + 1)
    }

    /// Ends everything where libcurl itself fails, which it does only out of memory.
    private func check(_ code: CURLMcode) -> Bool {
        if code == CURLM_OK { return true }
        endAll(.resourcesExhausted, "libcurl failed: \(Self.text(code))")
        return false
    }

    private static func text(_ code: CURLMcode) -> String {
        unsafe String(cString: curl_multi_strerror(code))
    }
}
