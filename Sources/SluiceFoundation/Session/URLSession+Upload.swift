public import Sluice

#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLSession {
    /// Uploads a body as it is read.
    ///
    /// ```swift
    /// let response = try await session.upload(form.body(), for: URLRequest(url: url))
    /// guard response.status == 201 else { throw Refused(response) }
    /// ```
    ///
    /// The request's method (`POST` in place of `GET`) and header fields go with it, and the body's Content-Type; its
    /// framing is exact: a Content-Length where the length is known, else chunked coding. Where the body has to be sent
    /// again, after a redirect by 307 or 308, a challenge or a lost connection, it is read again from its start. Cancelling
    /// the task that awaits this ends the transfer at once.
    ///
    /// What Linux does differently, and what is done about it: <doc:URLSessionOnLinux>.
    ///
    /// - Parameters:
    ///   - body: What to upload. Nothing of it is held in memory but ``SessionOptions/readAhead`` of a body that may wait.
    ///   - request: Where to, and how. A body that it has is replaced.
    ///   - options: Redirects, limits, read-ahead.
    ///   - progress: Called with the progress at most ten times a second, and at the end, one call at a time. What it
    ///     counts are the bytes handed to `URLSession`.
    /// - Returns: The server's final answer, whatever its status is. Where it came before all of the body was sent,
    ///   ``SessionResponse/sentCompletely`` is false.
    /// - Throws: ``SessionError`` where there is no answer. A status of 400 and above is not an error.
    public func upload(
        _ body: MultipartBody,
        for request: URLRequest,
        options: SessionOptions = .init(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(SessionError) -> SessionResponse {
        let reports = progress.map { Reports($0) }
        let result = await upload(body, for: request, options: options, report: reports?.report)
        await reports?.finish()
        return try result.get()
    }

    /// Uploads a body as it is read, and tells how far it is.
    ///
    /// ```swift
    /// for try await event in session.uploadEvents(body, for: request) {
    ///     switch event {
    ///     case .progress(let progress): print(progress.fractionCompleted ?? 0)
    ///     case .response(let response): print(response.status)
    ///     }
    /// }
    /// ```
    ///
    /// The transfer begins at once. It ends when the task that iterates is cancelled or the stream is let go of.
    ///
    /// - Parameters:
    ///   - body: What to upload.
    ///   - request: Where to, and how.
    ///   - options: Redirects, limits, read-ahead.
    /// - Returns: The progress, then the response, then the end; or a thrown ``SessionError``. What waits to be asked for
    ///   is one event.
    public func uploadEvents(
        _ body: MultipartBody,
        for request: URLRequest,
        options: SessionOptions = .init()
    ) -> AsyncThrowingStream<SessionUploadEvent, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let task = Task {
                let report: @Sendable (TransferProgress) -> Void = { continuation.yield(.progress($0)) }
                switch await upload(body, for: request, options: options, report: report) {
                case .success(let response):
                    continuation.yield(.response(response))
                    continuation.finish()
                case .failure(let error):
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func upload(
        _ body: MultipartBody,
        for request: URLRequest,
        options: SessionOptions,
        report: (@Sendable (TransferProgress) -> Void)?
    ) async -> Result<SessionResponse, SessionError> {
        let meter = report.map { ProgressMeter(body, handler: $0) }
        let limit = options.responseBodyLimit
        let transfer = SessionTransfer(
            request,
            in: self,
            upload: UploadSource(body, readAhead: options.readAhead, meter: meter),
            options: options
        ) { _ in .memory(Data(), limit: limit, dropsRest: false) }
        let result = await transfer.run()
        meter?.finish(completed: (try? result.get())?.sentCompletely ?? false)
        return result
    }
}
