internal import Sluice
internal import Synchronization

/// What the task that awaits a transfer and the thread that does it know of each other.
final class TransferTicket: Sendable {
    /// What is to be done.
    enum Work: Sendable {
        case upload(MultipartBody)
        /// A download whose answer is kept in memory.
        case memory
        /// A download whose answer goes to a task in chunks.
        case chunks(ChunkChannel)
        /// A download to the file of this path.
        case file(String, FileDownloadOptions)
    }

    /// What became of it.
    struct Completion: Sendable {
        let response: CurlResponse
        var file: DownloadedFile?
    }

    typealias Outcome = Result<Completion, TransferError>

    /// Tells the process's transfers apart; never 0.
    let id: Int
    let work: Work
    let request: CurlRequest
    let meter: ProgressMeter?
    /// Called before the wait for another attempt.
    let onRetry: (@Sendable (RetryNotice) -> Void)?
    private let cancelled = Atomic(false)
    private let completion: Mutex<(@Sendable (Outcome) -> Void)?>

    private static let lastID = Atomic(0)

    /// Makes a ticket.
    ///
    /// - Parameters:
    ///   - work: What is to be done.
    ///   - request: How.
    ///   - meter: Told how far it is.
    ///   - onRetry: Called before the wait for another attempt.
    ///   - completion: Called once, with what became of it.
    init(
        _ work: Work,
        _ request: CurlRequest,
        meter: ProgressMeter?,
        onRetry: (@Sendable (RetryNotice) -> Void)? = nil,
        completion: @escaping @Sendable (Outcome) -> Void
    ) {
        id = Self.lastID.add(1, ordering: .relaxed).newValue
        self.work = work
        self.request = request
        self.meter = meter
        self.onRetry = onRetry
        self.completion = Mutex(completion)
    }

    /// The body that is sent, if one is.
    var body: MultipartBody? {
        if case .upload(let body) = work { body } else { nil }
    }

    /// Whether the task is cancelled, which it may be before the loop has heard of the transfer.
    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    func markCancelled() {
        cancelled.store(true, ordering: .relaxed)
    }

    /// Tells what became of the transfer; only the first call has an effect.
    func complete(_ outcome: Outcome) {
        let completion = completion.withLock { completion in
            defer { completion = nil }
            return completion
        }
        completion?(outcome)
    }
}
