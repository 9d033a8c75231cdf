public import Sluice

/// An HTTP client on libcurl that sends multipart bodies as they are read.
///
/// ```swift
/// let client = CurlClient()
/// let response = try await client.upload(form.body(), to: "https://example.com/upload")
/// guard response.status == 201 else { throw Refused(response) }
/// ```
///
/// Any number of uploads run at the same time on one thread of the client's own, and share its connections. The body's
/// bytes are read straight into libcurl's buffer. Cancelling the task that awaits an upload ends it at once.
///
/// Proxies are taken from the environment, as curl does.
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
        let ticket = TransferTicket(body, request, meter: progress.map { ProgressMeter(body, handler: $0) })
        let loop = loop
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                ticket.setWaiter(continuation)
                loop.submit(ticket)
            }
        } onCancel: {
            // The loop may not have heard of the ticket yet; then the mark is what it sees.
            ticket.markCancelled()
            loop.send(.cancel(id: ticket.id))
        }
        return try outcome.get()
    }

    /// Cancels what runs, closes all connections and ends the thread; returns when it has ended.
    ///
    /// Later uploads throw ``TransferError/Code/clientClosed``. A client that is released does the same, without
    /// waiting.
    public func close() async {
        await loop.shutDownAndWait()
    }
}

/// The package's version, as it is sent in `User-Agent`.
package let sluiceVersion = "0.1.0"
