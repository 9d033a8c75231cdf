public import Sluice

/// What happens in an upload.
public enum UploadEvent: Sendable {
    /// How far it is; for a consumer that is slow, the newest report only.
    case progress(TransferProgress)
    /// An attempt failed, and another one follows.
    case retrying(RetryNotice)
    /// The server's final answer, whatever its status is; the last event.
    case response(CurlResponse)
}

/// An upload as its events.
///
/// ```swift
/// for try await event in client.uploadEvents(body, request) {
///     switch event {
///     case .progress(let progress): show(progress.fractionCompleted)
///     case .retrying(let notice): log("attempt \(notice.attempt) in \(notice.delay): \(notice.reason)")
///     case .response(let response): return response
///     }
/// }
/// ```
///
/// Each iteration is an upload of its own, which begins when the first event is asked for. Breaking off the iteration, or
/// cancelling its task, ends the upload. An upload that gets no answer throws ``TransferError``.
public struct UploadEvents: AsyncSequence, Sendable {
    /// What happens.
    public typealias Element = UploadEvent
    /// Why there is no answer.
    public typealias Failure = TransferError

    let client: CurlClient
    let body: MultipartBody
    let request: CurlRequest

    /// Makes an iterator for an upload of its own.
    public func makeAsyncIterator() -> Iterator { Iterator(upload: self) }

    /// Iterates over one upload's events.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let upload: UploadEvents
        private var run: TransferRun<Result<UploadEvent, TransferError>>?
        private var isOver = false

        fileprivate init(upload: UploadEvents) {
            self.upload = upload
        }

        /// The next event, waited for; the first call begins the upload.
        ///
        /// - Parameter actor: The caller's actor.
        /// - Returns: The event, or nil behind the response.
        /// - Throws: ``TransferError`` where there is no answer.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(TransferError) -> UploadEvent? {
            if isOver { return nil }
            let run = run ?? upload.begin()
            self.run = run
            let event = await run.next()
            switch event {
            case .success(.progress), .success(.retrying): break
            case .success(.response), .failure:
                isOver = true
                self.run = nil
            }
            return try event.get()
        }
    }

    fileprivate func begin() -> TransferRun<Result<UploadEvent, TransferError>> {
        let channel = EventChannel<Result<UploadEvent, TransferError>>()
        let meter = ProgressMeter(body) { channel.send(.success(.progress($0)), isProgress: true) }
        let ticket = TransferTicket(.upload(body), request, meter: meter) { notice in
            channel.send(.success(.retrying(notice)), isProgress: false)
        } completion: { outcome in
            channel.send(outcome.map { .response($0.response) }, isProgress: false)
        }
        return TransferRun(client, ticket, channel)
    }
}
