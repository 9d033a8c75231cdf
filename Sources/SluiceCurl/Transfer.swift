internal import CCurl
internal import Sluice

/// One transfer: an easy handle with what feeds it and what collects from it, over as many requests as it takes.
///
/// libcurl answers challenges by itself. Redirects are followed here, one request after the other on the same handle:
/// so the method, the body, the credentials and the header fields of each are what ``CurlRequest`` promises, whatever the
/// version of libcurl thinks of them. Retries begin with the first request again, unless that was done with the body. Made
/// and used on the loop's thread only.
final class Transfer {
    let ticket: TransferTicket
    let handle: EasyHandle
    /// Where the body comes from; nil where none is sent.
    let feed: BodyFeed?
    /// Where the answer's body goes; nil where it is kept in memory.
    let sink: (any BodySink)?
    private(set) var collector: ResponseCollector
    private var limits: TransferLimits
    private var retry: RetryState
    /// Takes credentials out of debug lines; nil where nobody wants lines.
    private let debugLog: DebugLog?

    private let lastWords: LastWords

    /// Where the present request goes.
    var url: String { hop.endpoint.url }

    /// The first request, with which every attempt begins.
    private let firstHop: RequestHop
    /// The request that is under way.
    private var hop: RequestHop
    private var redirectCount = 0
    /// Whether the last request with a body sent all of it.
    private var sentCompletely = false
    /// What the server said of the present request's HTTP/2 stream.
    private(set) var fate = StreamFate()
    /// Whether the last bytes of the body are to be offered again.
    private(set) var isPaused = false
    /// Whether libcurl was not allowed to send the request again by itself.
    private(set) var isLost = false

    /// What becomes of the answer's body, once its head is there.
    private var verdict: SinkVerdict?
    /// The wait for another attempt that the answer's status calls for.
    private var wait: Duration?

    /// What becomes of a transfer when a request of it is over.
    enum Step {
        /// It goes on with another request, for which it has to be prepared.
        case again
        /// It goes on with another attempt after a while.
        case retry(RetryNotice)
        /// The file has all of its bytes.
        case commit(CurlResponse)
        case done(Result<CurlResponse, TransferError>)
    }

    /// What a transfer needs of the loop that it runs on.
    struct Surroundings {
        let lastWords: LastWords
        let diskThreads: DiskThreads
        let fullSinks = FullSinks()
        let userAgent: String
        /// Sends a command to the loop, from any thread.
        let send: @Sendable (EventLoop.Command) -> Void
    }

    /// Checks the request; nothing is connected to and no file is opened yet.
    init(_ ticket: TransferTicket, _ surroundings: Surroundings) throws(TransferError) {
        self.ticket = ticket
        lastWords = surroundings.lastWords
        let request = ticket.request
        let hop = try RequestHop(request, for: ticket.work, userAgent: surroundings.userAgent)
        firstHop = hop
        self.hop = hop
        limits = try TransferLimits(request)
        retry = RetryState(request, start: limits.start)
        handle = try EasyHandle()
        let (id, send) = (ticket.id, surroundings.send)
        feed = ticket.body.map { body in
            let chunkSize = hop.bufferSize(for: body.contentLength)
            return BodyFeed(body, chunkSize: chunkSize, meter: ticket.meter) { send(.resume(id: id)) }
        }
        sink =
            switch ticket.work {
            case .upload, .memory: nil
            case .chunks(let channel): ChunkSink(channel, surroundings.fullSinks) { send(.resume(id: id)) }
            case .file(let path, let options):
                try FileSink(path, options, url: hop.endpoint.url, surroundings.diskThreads) { send(.disk(id: id, $0)) }
            }
        collector = ResponseCollector(
            bodyLimit: request.responseBodyLimit,
            followsRedirects: request.redirects != .none
        )
        debugLog = request.debug.map { DebugLog($0) }
        if let start = try? ticket.body?.makeReader() {
            ticket.meter?.advance(to: start.mark)
        } else {
            ticket.meter?.advance(to: 0, of: nil)
        }
    }

    /// Sets every option for the request that is next, whose upload buffer may have `share` bytes at most.
    func prepare(share: Int) throws(TransferError) {
        verdict = nil
        wait = nil
        fate = StreamFate()
        isLost = false
        isPaused = false
        do {
            try handle.reset()
            try hop.configure(handle, for: ticket.body, from: sink?.resumePoint, share: share)
            unsafe try handle.set(CURLOPT_PRIVATE, pointer: UnsafeMutableRawPointer(bitPattern: ticket.id))
            try handle.connectCallbacks(of: self)
            try lastWords.listen(to: handle)
        } catch {
            throw TransferError(error.code, error.reason, url: url, curlCode: error.curlCode)
        }
    }

    // MARK: The answer

    /// Takes a line of a head.
    ///
    /// - Returns: Whether to go on.
    func takeHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard unsafe collector.takeHeader(bytes, requestBytes: requestBytes) else { return false }
        // An answer to which libcurl has one of its own is none, and then its body does not come here.
        guard collector.isHeadComplete, !(hop.answersChallenges && collector.status == 401) else { return true }
        return judge()
    }

    /// The bytes of the heads that libcurl has sent: more with each request, also with those that it sends by itself.
    private var requestBytes: Int64 { Int64(handle.number(CURLINFO_REQUEST_SIZE)) }

    /// Takes bytes of the answer's body.
    func takeBody(_ bytes: UnsafeRawBufferPointer) -> SinkTaking {
        guard judge() else { return .abort }
        guard let sink, case .take = verdict else {
            guard unsafe collector.takeBody(bytes) else { return .abort }
            if feed == nil, sink == nil {
                ticket.meter?.advance(to: Int64(collector.body.count), of: response.bodyLength)
            }
            return .taken
        }
        let taking = unsafe sink.take(bytes)
        isPaused = taking == .pause
        switch taking {
        case .taken: ticket.meter?.advance(to: sink.position, of: sink.total)
        case .pause: break
        case .abort:
            verdict = .refuse(.contentMismatch, "the server sends more than the \(sink.total ?? 0) bytes of the file")
        }
        return taking
    }

    /// Decides what becomes of an answer, once its head is there.
    ///
    /// - Returns: Whether the rest of it is of use.
    private func judge() -> Bool {
        if verdict == nil {
            if collector.redirectLocation != nil {
                verdict = .collect
            } else {
                let response = response
                wait = canRepeat ? retry.delay(after: response) : nil
                verdict = wait == nil ? sink.map { begin($0, response) } ?? .collect : .collect
                if case .take = verdict, let sink { ticket.meter?.advance(to: sink.position, of: sink.total) }
            }
        }
        switch verdict {
        case .startOver, .refuse: return false
        case .take, .collect, nil: return true
        }
    }

    private func begin(_ sink: any BodySink, _ response: CurlResponse) -> SinkVerdict {
        if [200, 206].contains(response.status), let flaw = collector.framingFlaw {
            return .refuse(.protocolError, "the server sends \(flaw), so that it cannot be told where the content ends")
        }
        return sink.begin(response)
    }

    /// Whether the body can be had from its start again, or still.
    private var canRepeat: Bool {
        if let sink = sink as? ChunkSink, !sink.canGoOn { return false }
        guard let feed, hop.sendsBody else { return true }
        return feed.failure == nil && !feed.isUsedUp && (feed.position == 0 || ticket.body?.replay != .once)
    }

    // MARK: The body

    /// Reads the body's next bytes into libcurl's buffer.
    func readBody(into buffer: UnsafeMutableRawBufferPointer) -> BodyFeed.Step {
        fate.beginBody()
        return unsafe feed?.read(into: buffer) ?? .abort
    }

    /// Goes back in the body, where libcurl wants to send it again by itself.
    ///
    /// It does so to answer a challenge, which is what the server asks for. It also does so where a connection that was used
    /// before turns out to be dead: then the server may have acted on what it got, and it is the policy that decides.
    ///
    /// - Returns: Whether the body can be had from there.
    func rewind(to offset: Int64) -> Bool {
        guard let feed else { return false }
        // An answer to the last request, and none before it, is what it could be sent again for.
        let isAnswered = collector.answeredRequestBytes == requestBytes
        if offset < feed.position, !isAnswered, !fate.isUnseen, !retry.mayRepeat(hop.method) {
            isLost = true
            return false
        }
        return feed.seek(to: offset)
    }

    /// Whether what libcurl says is of interest.
    var wantsDebug: Bool { debugLog != nil || hop.maySpeakHTTP2 }

    /// Takes what libcurl says.
    func takeDebug(_ type: curl_infotype, _ bytes: UnsafeRawBufferPointer) {
        if type == CURLINFO_TEXT, hop.maySpeakHTTP2 {
            let hasBody = feed != nil && hop.sendsBody && ticket.body?.contentLength != 0
            fate.hear(unsafe String(decoding: bytes, as: UTF8.self), hasBody: hasBody)
        }
        unsafe debugLog?.take(type, bytes)
    }

    // MARK: The file

    /// Says that the file is open, and what of it is there.
    func opened(_ point: ResumePoint?) {
        guard let sink = sink as? FileSink else { return }
        sink.opened(point)
        if let point { ticket.meter?.resume(at: point.offset, of: point.total) }
    }

    /// The file that was put in its place.
    func file(at path: String, _ byteCount: Int64, _ response: CurlResponse) -> DownloadedFile {
        let resumedBytes = (sink as? FileSink)?.resumedBytes ?? 0
        return DownloadedFile(path: path, byteCount: byteCount, resumedBytes: resumedBytes, response: response)
    }

    // MARK: The end

    /// Closes what is open and tells whoever waits, once the handle is back from libcurl.
    func finish(_ result: Result<CurlResponse, TransferError>, file: DownloadedFile? = nil) {
        feed?.close()
        if case .success = result, feed == nil || sentCompletely {
            ticket.meter?.finish(completed: true)
        } else {
            ticket.meter?.finish(completed: false)
        }
        ticket.complete(result.map { TransferTicket.Completion(response: $0, file: file) })
    }

    // MARK: Limits

    /// The limit that is passed, if one is; bytes are expected to move only where libcurl has the handle.
    func passedLimit(at now: TransferLimits.Instant, isRunning: Bool) -> TransferLimits.Passed? {
        limits.check(at: now, activity: isRunning ? activity : nil)
    }

    func nextLimitCheck(after now: TransferLimits.Instant) -> TransferLimits.Instant? {
        limits.nextCheck(after: now)
    }

    /// Whether the connection is there, with TLS and through the proxy.
    var isConnected: Bool { handle.info(CURLINFO_PRETRANSFER_TIME_T) > 0 }

    /// A number that changes whenever a byte moves; nil while there is nothing that bytes could move on, and while they wait
    /// for whoever takes them.
    private var activity: Int64? {
        guard isConnected || handle.localPort > 0, !isPaused else { return nil }
        return handle.info(CURLINFO_SIZE_UPLOAD_T) + handle.info(CURLINFO_SIZE_DOWNLOAD_T) + Int64(collector.headBytes)
            + (isConnected ? 1 : 0)
    }

    /// Says what is next when libcurl is done with a request.
    func complete(_ code: CURLcode) -> Step {
        if let feed {
            // The last buffer was read before it was sent, so that the feed alone does not know.
            if hop.sendsBody { sentCompletely = feed.isAtEnd && handle.info(CURLINFO_SIZE_UPLOAD_T) >= feed.position }
            if code == CURLE_SEND_ERROR, let words = lastWords.take(localPort: handle.localPort),
                hop.endpoint.origin.hasPrefix("http:")
            {
                collector.takeLastWords(words)
            }
        }
        do throws(TransferError) {
            guard isAnswered(code) else { return try stepBehind(failure(code)) }
            // An answer without a length ends where its connection does.
            if case .take = verdict, collector.status == 206, let sink, let total = sink.total, sink.position < total {
                return try stepBehind(
                    error(.connectionLost, "the answer ended after \(sink.position) of the \(total) bytes of the file")
                )
            }
            if let location = collector.redirectLocation {
                try redirect(to: location)
                return .again
            }
            _ = judge()
            return try stepBehindAnswer()
        } catch {
            return .done(.failure(error))
        }
    }

    /// Says what is next where a request is given up that libcurl was not done with.
    func giveUp(_ error: TransferError) -> Step {
        do throws(TransferError) {
            return try stepBehind(error)
        } catch {
            return .done(.failure(error))
        }
    }

    private func stepBehindAnswer() throws(TransferError) -> Step {
        if let wait { return .retry(notice(.status(collector.status ?? 0), wait)) }
        switch verdict {
        case .startOver:
            renew()
            return .again
        case .refuse(let code, let reason): throw error(code, reason)
        case .take where sink is FileSink: return .commit(response)
        case .collect where sink is FileSink:
            throw error(
                .unexpectedStatus,
                "the server answered \(collector.status ?? 0)\(collector.reason.map { " \(printable($0))" } ?? ""), "
                    + "which is not the file",
                response: response
            )
        case .take, .collect, nil: return .done(.success(response))
        }
    }

    private func stepBehind(_ error: TransferError) throws(TransferError) -> Step {
        switch verdict {
        case .startOver, .refuse: return try stepBehindAnswer()
        case .take, .collect, nil: break
        }
        // An answer that is not looked at need not be whole.
        if let wait { return .retry(notice(.status(collector.status ?? 0), wait)) }
        guard let wait = retry.delay(after: error, method: hop.method, isUntouched: isUntouched) else { throw error }
        guard canRepeat else {
            let what =
                feed == nil ? "the rest of the answer cannot be asked for" : "a part of the body can be read only once"
            throw error.adding("; it was not tried again, because \(what)")
        }
        return .retry(notice(.error(error), wait))
    }

    private func notice(_ reason: RetryNotice.Reason, _ wait: Duration) -> RetryNotice {
        RetryNotice(attempt: retry.attempt + 1, reason: reason, delay: wait)
    }

    /// Whether the server has got nothing of what makes it act.
    private var isUntouched: Bool {
        guard isConnected, !fate.isUnseen else { return true }
        // Of a request without a body its head is all that there is.
        guard let feed, hop.sendsBody, ticket.body?.contentLength != 0 else { return false }
        return feed.position == 0 && collector.headBytes == 0
    }

    /// Whether there is a final response, even where sending or receiving broke off behind its head: a server that
    /// refuses need not read what it refuses, and its answer is worth more than "broken pipe".
    private func isAnswered(_ code: CURLcode) -> Bool {
        guard collector.isHeadComplete, let status = collector.status else { return false }
        if code == CURLE_OK { return true }
        if case .take = verdict { return false }
        // What is no file is a refusal, too.
        guard status >= 300 || sink != nil, feed?.failure == nil, !collector.isHeadTooLarge else { return false }
        // The page that says why there is no file may be as long as it likes.
        if collector.isTooLarge { return sink != nil }
        // Behind a body that was sent whole, an answer that breaks off is no answer.
        if feed == nil || sentCompletely, !collector.isBodyComplete, collector.redirectLocation == nil { return false }
        switch code {
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE, CURLE_HTTP2, CURLE_HTTP2_STREAM: return true
        // The body of a redirect was longer than it is worth.
        case CURLE_WRITE_ERROR: return collector.redirectLocation != nil
        default: return false
        }
    }

    // MARK: The next request

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
        if hop.sendsBody, feed?.seek(to: 0) == false {
            throw error(
                .bodyNotReplayable,
                "the server redirected to \(url) after it had begun to read the body, and a part of the "
                    + "body can be read only once; send to that URL, or make the source restartable"
            )
        }
        redirectCount += 1
        renew()
    }

    /// Begins another attempt, at the end of the wait for it.
    func beginAttempt() throws(TransferError) {
        retry.begin()
        if firstHop.sendsBody, !hop.sendsBody {
            // The server has acted on the body, and this is where it says what came of that.
            ticket.meter?.beginAttempt(at: feed?.position ?? 0)
            return renew()
        }
        hop = firstHop
        redirectCount = 0
        sentCompletely = false
        ticket.meter?.beginAttempt(at: sink?.position ?? 0)
        if feed?.seek(to: 0) == false {
            throw error(
                .bodyNotReplayable,
                "the body would have to be sent again, and a part of it can be read only once"
            )
        }
        renew()
    }

    private func renew() {
        collector = ResponseCollector(
            bodyLimit: ticket.request.responseBodyLimit,
            followsRedirects: ticket.request.redirects != .none
        )
    }

    /// The answer, as far as it has come.
    private var response: CurlResponse {
        CurlResponse(
            status: collector.status ?? 0,
            reason: collector.reason,
            headers: collector.headers,
            body: collector.body,
            method: hop.method,
            url: url,
            httpVersion: collector.httpVersion,
            sentBytes: feed?.position ?? 0,
            sentCompletely: sentCompletely,
            redirectCount: redirectCount,
            attempts: retry.attempt,
            elapsedSeconds: limits.elapsedSeconds
        )
    }
}
