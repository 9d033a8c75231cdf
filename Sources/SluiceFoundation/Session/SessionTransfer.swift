internal import Foundation
internal import Sluice
internal import Synchronization

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// An upload or download from its first request to its final answer, redirects and challenges included.
final class SessionTransfer: Sendable {
    private struct State {
        var current: Exchange?
        /// Why no further exchange begins.
        var stopped: SessionError?
    }

    private let session: TransferSession
    private let request: URLRequest
    private let upload: UploadSource?
    private let options: SessionOptions
    private let meter: ProgressMeter?
    private let makeSink: @Sendable (ResponseHead) -> ResponseSink
    private let totalTimeout: Duration
    private let idleTimeout: Duration
    private let state = Mutex(State())

    /// Makes a transfer that has not begun.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - session: Whose configuration counts.
    ///   - upload: What is sent with it.
    ///   - options: The rest.
    ///   - meter: Told of what is received.
    ///   - makeSink: Where the final answer is to go.
    init(
        _ request: URLRequest,
        in session: URLSession,
        upload: UploadSource? = nil,
        options: SessionOptions,
        meter: ProgressMeter? = nil,
        makeSink: @escaping @Sendable (ResponseHead) -> ResponseSink
    ) {
        self.request = request
        self.session = TransferSession(like: session)
        self.upload = upload
        self.options = options
        self.meter = meter
        self.makeSink = makeSink
        let configuration = session.configuration
        totalTimeout = Self.duration(
            options.totalTimeout.map { $0 / .seconds(1) } ?? configuration.timeoutIntervalForResource
        )
        // 60 is what a request has that was given none.
        let isGiven = request.timeoutInterval != 60
        idleTimeout = Self.duration(isGiven ? request.timeoutInterval : configuration.timeoutIntervalForRequest)
    }

    /// Runs the transfer; to be called once.
    ///
    /// Cancelling the task that awaits it ends it.
    func run() async -> Result<SessionResponse, SessionError> {
        await withTaskCancellationHandler {
            do throws(SessionError) {
                return .success(try await transfer())
            } catch {
                return .failure(error)
            }
        } onCancel: {
            cancel()
        }
    }

    /// Ends the transfer, now.
    func cancel() {
        stop(SessionError(.cancelled, "the transfer was cancelled", url: request.url?.shown ?? ""))
    }

    private func transfer() async throws(SessionError) -> SessionResponse {
        let start = ContinuousClock.now
        let watchdog = Watchdog(
            total: totalTimeout,
            idle: upload?.body.mayBlock == true ? idleTimeout : nil,
            waited: { [weak self] in self?.upload?.ahead?.waitedFor },
            bark: { [weak self] reason in self?.stop(SessionError(.timeout, reason)) }
        )
        defer { watchdog.stop() }
        var hop = try SessionHop(
            request,
            inheriting: session.headers,
            body: upload?.body,
            options: options
        )
        var sent: Answer?
        while true {
            let answer = try await perform(hop)
            if hop.sendsBody { sent = answer }
            if let next = try hop.following(answer) {
                hop = next
                continue
            }
            return SessionResponse(
                status: answer.head.status,
                headers: answer.head.headers,
                body: answer.body,
                method: hop.method,
                url: hop.url.shown,
                sentBytes: sent?.sentBytes ?? 0,
                sentCompletely: sent?.sentCompletely ?? true,
                redirectCount: hop.redirectCount,
                elapsedSeconds: (ContinuousClock.now - start) / .seconds(1)
            )
        }
    }

    private func perform(_ hop: SessionHop) async throws(SessionError) -> Answer {
        let exchange = Exchange(hop, upload: upload, meter: meter, makeSink: makeSink)
        let stopped = state.withLock { state in
            state.current = exchange
            return state.stopped
        }
        if let stopped { throw stopped }
        begin(exchange, sendsBody: hop.sendsBody)
        defer { state.withLock { $0.current = nil } }
        return try await exchange.outcome().get()
    }

    /// Starts the exchange, once enough is there of a body that may wait.
    private func begin(_ exchange: Exchange, sendsBody: Bool) {
        let ahead: AheadReader?
        do {
            ahead = sendsBody ? try upload?.gather() : nil
        } catch {
            exchange.fail(SessionError(.bodyFailed, "the body could not be read", bodyError: error))
            return
        }
        guard let ahead else { return session.start(exchange) }
        // Whoever has stopped the transfer meanwhile did not see it.
        if let stopped = state.withLock({ $0.stopped }) {
            ahead.cancel()
            exchange.fail(stopped)
            return
        }
        let session = session
        let begin = Once { [weak ahead] in
            // Not worth a connection.
            if let failure = ahead?.failure {
                exchange.fail(SessionError(.bodyFailed, "the body could not be read", bodyError: failure))
            } else {
                session.start(exchange)
            }
        }
        ahead.whenReady { begin.run() }
        let limit = Self.duration(options.gatheringLimit / .seconds(1)) / .seconds(1)
        TransferSession.control.asyncAfter(deadline: .now() + limit) { [weak begin] in begin?.run() }
    }

    private func stop(_ error: SessionError) {
        let exchange = state.withLock { state in
            if state.stopped == nil { state.stopped = error }
            return state.current
        }
        exchange?.fail(error)
        upload?.ahead?.cancel()
    }

    /// The time as one that timers can take.
    private static func duration(_ interval: TimeInterval) -> Duration {
        // A century is as good as for ever, and no number of nanoseconds is too large then.
        .seconds(interval.isFinite ? min(max(interval, 0.001), 3e9) : 3e9)
    }
}
