public import Sluice
internal import Synchronization

/// An HTTP client on libcurl that sends multipart bodies as they are read, and receives files as they come.
///
/// ```swift
/// let client = CurlClient()
/// let response = try await client.upload(form.body(), to: "https://example.com/upload")
/// guard response.status == 201 else { throw Refused(response) }
/// ```
///
/// Any number of transfers run at the same time on one thread of the client's own, and share its connections. The body's
/// bytes are read straight into libcurl's buffer. Cancelling the task that awaits a transfer ends it at once.
public final class CurlClient: Sendable {
    /// What holds for all of a client's transfers.
    public struct Configuration: Sendable {
        /// The `User-Agent`, unless a request adds one of its own.
        public var userAgent = "sluice/\(sluiceVersion)"
        /// The most connections to one host at a time, others wait; nil for no limit.
        public var maximumConnectionsPerHost: Int?

        /// The defaults.
        public init() {}
    }

    private let loop: EventLoop

    /// Makes a client, whose thread is started by the first upload.
    ///
    /// - Parameter configuration: What holds for all of its transfers.
    public init(_ configuration: Configuration = .init()) {
        loop = EventLoop(configuration)
    }

    deinit {
        loop.shutDown()
    }

    /// Sends a body with `POST` and every option at its default.
    ///
    /// - Parameters:
    ///   - body: The body; its Content-Type goes with it.
    ///   - url: The URL, `http` or `https`.
    ///   - progress: Called with the progress at first, at most ten times a second, and at the end, on the client's
    ///     thread; it should return soon.
    /// - Returns: The server's final answer, whatever its status is.
    /// - Throws: ``TransferError`` where there is no answer. A status of 400 and above is not an error.
    public func upload(
        _ body: MultipartBody,
        to url: String,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(TransferError) -> CurlResponse {
        try await upload(body, CurlRequest(url: url), progress: progress)
    }

    /// Sends a body as a request says.
    ///
    /// - Parameters:
    ///   - body: The body; its Content-Type goes with it unless the request has one.
    ///   - request: The method, the URL, header fields and options.
    ///   - progress: Called with the progress at first, at most ten times a second, and at the end, on the client's
    ///     thread; it should return soon.
    /// - Returns: The server's final answer, whatever its status is. Where it came before all of the body was sent,
    ///   ``CurlResponse/sentCompletely`` is false.
    /// - Throws: ``TransferError`` where there is no answer. A status of 400 and above is not an error.
    public func upload(
        _ body: MultipartBody,
        _ request: CurlRequest,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(TransferError) -> CurlResponse {
        let meter = progress.map { ProgressMeter(body, handler: $0) }
        return try await complete(.upload(body), request, meter).response
    }

    /// Sends a body as a request says, and tells what happens meanwhile.
    ///
    /// The upload begins when the first event is asked for, and ends with the iteration.
    ///
    /// - Parameters:
    ///   - body: The body; its Content-Type goes with it unless the request has one.
    ///   - request: The method, the URL, header fields and options.
    /// - Returns: The upload's events: progress, retries, and at last the response.
    public func uploadEvents(_ body: MultipartBody, _ request: CurlRequest) -> UploadEvents {
        UploadEvents(client: self, body: body, request: request)
    }

    // MARK: Closing

    /// Closes all connections and ends the client's threads; returns when they have ended.
    ///
    /// Transfers that run are cancelled with ``TransferError/Code/clientClosed``, or waited for; where the task that waits
    /// for them is cancelled, they are, too. Later transfers throw ``TransferError/Code/clientClosed``. A client that is
    /// released does the same, without waiting.
    ///
    /// - Parameter finishingTransfers: Whether to wait for the transfers that run.
    public func close(finishingTransfers: Bool = false) async {
        let loop = loop
        await withTaskCancellationHandler {
            await loop.shutDownAndWait(finishing: finishingTransfers)
        } onCancel: {
            loop.shutDown()
        }
    }

    // MARK: Transfers of any kind

    /// Does a transfer, and ends it where the task is cancelled.
    func complete(
        _ work: TransferTicket.Work,
        _ request: CurlRequest,
        _ meter: ProgressMeter?
    ) async throws(TransferError) -> TransferTicket.Completion {
        let running = Mutex<TransferTicket?>(nil)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ticket = TransferTicket(work, request, meter: meter) { continuation.resume(returning: $0) }
                running.withLock { $0 = ticket }
                if Task.isCancelled { ticket.markCancelled() }
                begin(ticket)
            }
        } onCancel: {
            // Before there is a ticket, the task itself says that it is cancelled.
            if let ticket = running.withLock({ $0 }) { cancel(ticket) }
        }
        return try outcome.get()
    }

    /// Begins a transfer.
    func begin(_ ticket: TransferTicket) {
        loop.submit(ticket)
    }

    /// Ends a transfer, if it is not over.
    func cancel(_ ticket: TransferTicket) {
        // The loop may not have heard of the ticket yet; then the mark is what it sees.
        ticket.markCancelled()
        loop.send(.cancel(id: ticket.id))
    }
}

/// The package's version, as it is sent in `User-Agent`.
package let sluiceVersion = "0.1.0"
