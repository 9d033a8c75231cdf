public import Sluice

/// What happens in a download to a file.
public enum DownloadEvent: Sendable {
    /// How far it is; for a consumer that is slow, the newest report only.
    case progress(TransferProgress)
    /// An attempt failed, and another one follows, which goes on where the one before ended if the server can.
    case retrying(RetryNotice)
    /// The file is whole and in its place; the last event.
    case completed(DownloadedFile)
    /// There is no file, or still the old one; the last event.
    case failed(TransferError)
}

/// A download to a file as its events.
///
/// ```swift
/// for await event in client.downloadEvents(CurlRequest(url: url), toFile: "/data/film.mkv") {
///     switch event {
///     case .progress(let progress): show(progress.fractionCompleted)
///     case .retrying(let notice): log("attempt \(notice.attempt) in \(notice.delay): \(notice.reason)")
///     case .completed(let file): log("\(file.path) has \(file.byteCount) bytes")
///     case .failed(let error): log("\(error)")
///     }
/// }
/// ```
///
/// Each iteration is a download of its own, which begins when the first event is asked for. Breaking off the iteration, or
/// cancelling its task, ends the download.
public struct DownloadEvents: AsyncSequence, Sendable {
    /// What happens.
    public typealias Element = DownloadEvent
    /// Nothing is thrown: a failure is an event.
    public typealias Failure = Never

    let client: CurlClient
    let request: CurlRequest
    let path: String
    let options: FileDownloadOptions

    /// Makes an iterator for a download of its own.
    public func makeAsyncIterator() -> Iterator { Iterator(download: self) }

    /// Iterates over one download's events.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let download: DownloadEvents
        private var run: TransferRun<DownloadEvent>?
        private var isOver = false

        fileprivate init(download: DownloadEvents) {
            self.download = download
        }

        /// The next event, waited for; the first call begins the download.
        ///
        /// - Parameter actor: The caller's actor.
        /// - Returns: The event, or nil behind the last one.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> DownloadEvent? {
            if isOver { return nil }
            let run = run ?? download.begin()
            self.run = run
            let event = await run.next()
            switch event {
            case .progress, .retrying: break
            case .completed, .failed:
                isOver = true
                self.run = nil
            }
            return event
        }
    }

    fileprivate func begin() -> TransferRun<DownloadEvent> {
        let channel = EventChannel<DownloadEvent>()
        let meter = ProgressMeter { channel.send(.progress($0), isProgress: true) }
        let ticket = TransferTicket(.file(path, options), request, meter: meter) { notice in
            channel.send(.retrying(notice), isProgress: false)
        } completion: { outcome in
            switch outcome {
            case .success(let completed):
                guard let file = completed.file else { return }
                channel.send(.completed(file), isProgress: false)
            case .failure(let error): channel.send(.failed(error), isProgress: false)
            }
        }
        return TransferRun(client, ticket, channel)
    }
}
