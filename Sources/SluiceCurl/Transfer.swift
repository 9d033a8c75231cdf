internal import CCurl
internal import Sluice

/// One transfer: an easy handle with what feeds it and what collects from it, over as many requests as it takes.
///
/// libcurl answers challenges by itself. Redirects are followed here, one request after the other on the same handle:
/// so the method, the body, the credentials and the header fields of each are what ``CurlRequest`` promises, whatever the
/// version of libcurl thinks of them. Made and used on the loop's thread only.
final class Transfer {
    let ticket: TransferTicket
    let handle: EasyHandle
    let feed: BodyFeed
    private(set) var collector: ResponseCollector
    private var limits: TransferLimits
    /// Takes credentials out of debug lines; nil where nobody wants lines.
    let debugLog: DebugLog?

    private let lastWords: LastWords

    /// Where the present request goes.
    var url: String { hop.endpoint.url }

    /// The request that is under way.
    private var hop: RequestHop
    private var redirectCount = 0
    /// Whether the last request with a body sent all of it.
    private var sentCompletely = false

    /// What becomes of a transfer when a request of it is over.
    enum Step {
        /// It goes on with another request, for which the handle is ready.
        case again
        case done(Result<CurlResponse, TransferError>)
    }

    /// Prepares the handle; nothing is connected to yet.
    ///
    /// `notify` is called from another thread when a paused transfer can go on.
    init(
        _ ticket: TransferTicket,
        _ lastWords: LastWords,
        userAgent: String,
        notify: @escaping @Sendable () -> Void
    ) throws(TransferError) {
        self.ticket = ticket
        self.lastWords = lastWords
        let request = ticket.request
        hop = try RequestHop(request, userAgent: userAgent)
        limits = try TransferLimits(request)
        handle = try EasyHandle()
        feed = BodyFeed(ticket.body, chunkSize: hop.bufferSize, meter: ticket.meter, notify: notify)
        collector = ResponseCollector(
            bodyLimit: request.responseBodyLimit,
            followsRedirects: request.redirects != .none
        )
        debugLog = request.debug.map { DebugLog($0) }
        try prepare()
        if let start = try? ticket.body.makeReader() { ticket.meter?.advance(to: start.mark) }
    }

    /// Sets every option for the request that is next.
    private func prepare() throws(TransferError) {
        do {
            try handle.reset()
            try hop.configure(handle, for: ticket.body)
            unsafe try handle.set(CURLOPT_PRIVATE, pointer: UnsafeMutableRawPointer(bitPattern: ticket.id))
            try handle.connectCallbacks(of: self)
            try lastWords.listen(to: handle)
        } catch {
            throw TransferError(error.code, error.reason, url: url, curlCode: error.curlCode)
        }
    }

    // MARK: The end

    /// Closes what is open and tells whoever waits, once the handle is back from libcurl.
    func finish(_ result: Result<CurlResponse, TransferError>) {
        feed.close()
        if case .success = result, sentCompletely {
            ticket.meter?.finish(completed: true)
        } else {
            ticket.meter?.finish(completed: false)
        }
        ticket.resume(result)
    }

    // MARK: Limits

    /// The limit that is passed, if one is.
    func passedLimit(at now: TransferLimits.Instant) -> TransferLimits.Passed? {
        limits.check(at: now, activity: activity)
    }

    func nextLimitCheck(after now: TransferLimits.Instant) -> TransferLimits.Instant? {
        limits.nextCheck(after: now)
    }

    /// A number that changes whenever a byte moves; nil while there is no connection.
    private var activity: Int64? {
        guard handle.info(CURLINFO_PRETRANSFER_TIME_T) > 0 else { return nil }
        return handle.info(CURLINFO_SIZE_UPLOAD_T) + handle.info(CURLINFO_SIZE_DOWNLOAD_T) + Int64(collector.headBytes)
    }

    /// Says what is next when libcurl is done with a request.
    func complete(_ code: CURLcode) -> Step {
        // The last buffer was read before it was sent, so that the feed alone does not know.
        if hop.sendsBody { sentCompletely = feed.isAtEnd && handle.info(CURLINFO_SIZE_UPLOAD_T) >= feed.position }
        if code == CURLE_SEND_ERROR, let words = lastWords.take(localPort: handle.localPort),
            hop.endpoint.origin.hasPrefix("http:")
        {
            collector.takeLastWords(words)
        }
        do throws(TransferError) {
            guard isAnswered(code) else { throw failure(code) }
            guard let location = collector.redirectLocation else { return .done(.success(response)) }
            try redirect(to: location)
            return .again
        } catch {
            return .done(.failure(error))
        }
    }

    /// Whether there is a final response, even where sending or receiving broke off behind its head: a server that
    /// refuses need not read what it refuses, and its answer is worth more than "broken pipe".
    private func isAnswered(_ code: CURLcode) -> Bool {
        guard collector.isHeadComplete, let status = collector.status else { return false }
        if code == CURLE_OK { return true }
        guard status >= 300, feed.failure == nil, !collector.isTooLarge, !collector.isHeadTooLarge else { return false }
        // Behind a body that was sent whole, an answer that breaks off is no answer.
        if sentCompletely, !collector.isBodyComplete, collector.redirectLocation == nil { return false }
        switch code {
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE, CURLE_HTTP2, CURLE_HTTP2_STREAM: return true
        // The body of a redirect was longer than it is worth.
        case CURLE_WRITE_ERROR: return collector.redirectLocation != nil
        default: return false
        }
    }

    private func redirect(to location: String) throws(TransferError) {
        guard case .follow(let limit) = ticket.request.redirects, redirectCount < limit else {
            throw error(
                .tooManyRedirects,
                "the server redirected \(redirectCount + 1) times and \(redirectCount) are allowed; "
                    + "check the URL, or raise the limit of redirects"
            )
        }
        do {
            hop = try hop.following(location, status: collector.status ?? 0)
        } catch {
            throw self.error(error.code, error.reason)
        }
        if hop.sendsBody, !feed.seek(to: 0) {
            throw error(
                .bodyNotReplayable,
                "the server redirected to \(url) after it had begun to read the body, and a part of the "
                    + "body can be read only once; send to that URL, or make the source restartable"
            )
        }
        redirectCount += 1
        collector = ResponseCollector(bodyLimit: ticket.request.responseBodyLimit, followsRedirects: true)
        try prepare()
    }

    private var response: CurlResponse {
        CurlResponse(
            status: collector.status ?? 0,
            reason: collector.reason,
            headers: collector.headers,
            body: collector.body,
            method: hop.method,
            url: url,
            httpVersion: collector.httpVersion,
            sentBytes: feed.position,
            sentCompletely: sentCompletely,
            redirectCount: redirectCount,
            elapsedSeconds: limits.elapsedSeconds
        )
    }
}
