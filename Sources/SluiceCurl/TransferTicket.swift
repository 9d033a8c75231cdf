internal import Sluice
internal import Synchronization

/// What the task that awaits a transfer and the thread that does it know of each other.
final class TransferTicket: Sendable {
    typealias Outcome = Result<CurlResponse, TransferError>

    /// Tells the process's transfers apart; never 0.
    let id: Int
    let body: MultipartBody
    let request: CurlRequest
    let meter: ProgressMeter?
    private let cancelled = Atomic(false)
    private let continuation = Mutex<CheckedContinuation<Outcome, Never>?>(nil)

    private static let lastID = Atomic(0)

    init(_ body: MultipartBody, _ request: CurlRequest, meter: ProgressMeter?) {
        id = Self.lastID.add(1, ordering: .relaxed).newValue
        self.body = body
        self.request = request
        self.meter = meter
    }

    /// Whether the task is cancelled, which it may be before the loop has heard of the transfer.
    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    func markCancelled() {
        cancelled.store(true, ordering: .relaxed)
    }

    /// Says whom to tell, before the ticket is handed on.
    func setWaiter(_ waiter: CheckedContinuation<Outcome, Never>) {
        continuation.withLock { $0 = waiter }
    }

    /// Tells the task what became of the transfer; only the first call has an effect.
    func resume(_ outcome: Outcome) {
        let waiter = continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
        waiter?.resume(returning: outcome)
    }
}
