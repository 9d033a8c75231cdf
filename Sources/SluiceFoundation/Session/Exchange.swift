internal import Foundation
internal import Sluice
internal import Synchronization

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// How one request was answered.
struct Answer: Sendable {
    let head: ResponseHead
    let body: Data
    /// What of the upload's body was handed over with this request.
    let sentBytes: Int64
    let sentCompletely: Bool
    /// The `Authorization` to ask again with, for a challenge that the session has a credential for.
    var authorization: String?
}

/// One request and its answer: what a single task of `URLSession` does.
///
/// It ends once, by the task's completion or by ``fail(_:)``, whichever comes first; what the task says afterwards is
/// ignored, and all that the exchange held is released by then.
final class Exchange: Sendable {
    typealias Outcome = Result<Answer, SessionError>

    private struct State {
        var outcome: Outcome?
        var waiter: CheckedContinuation<Outcome, Never>?
        var task: URLSessionTask?
        var stream: BodyInputStream.Handle?
        var head: ResponseHead?
        var sink = ResponseSink.nothing
        var received: Int64 = 0
    }

    private let state = Mutex(State())
    private let hop: SessionHop
    private let upload: UploadSource?
    private let meter: ProgressMeter?
    private let makeSink: @Sendable (ResponseHead) -> ResponseSink

    /// Makes an exchange that has not begun.
    ///
    /// - Parameters:
    ///   - hop: The request.
    ///   - upload: Makes the streams of its body.
    ///   - meter: Told of what is received for the caller.
    ///   - makeSink: Where an answer is to go.
    init(
        _ hop: SessionHop,
        upload: UploadSource?,
        meter: ProgressMeter?,
        makeSink: @escaping @Sendable (ResponseHead) -> ResponseSink
    ) {
        self.hop = hop
        self.upload = hop.sendsBody ? upload : nil
        self.meter = meter
        self.makeSink = makeSink
    }

    /// Waits for the end; to be called once.
    func outcome() async -> Outcome {
        await withCheckedContinuation { waiter in
            let outcome = state.withLock { state in
                if state.outcome == nil { state.waiter = waiter }
                return state.outcome
            }
            if let outcome { waiter.resume(returning: outcome) }
        }
    }

    // MARK: Sending

    /// The request with its body, for a task to be made of; nil where the exchange is over.
    func makeRequest() -> URLRequest? {
        guard state.withLock({ $0.outcome == nil }) else { return nil }
        var request = hop.request
        if let upload, let stream = makeStream() { request.setMultipartBody(upload.body, stream: stream) }
        return request
    }

    /// A stream of the body from its start: the first, or one that `URLSession` asks for because it has to start over.
    ///
    /// A body that can be read only once gives a stream that fails, and so does an exchange that is over: without a stream
    /// `URLSession` on Linux would send nothing in its place and report a success.
    func makeStream() -> BodyInputStream? {
        guard let upload else { return nil }
        let stream = upload.takeStream()
        let isOver = state.withLock { state in
            state.stream = stream.handle
            return state.outcome != nil
        }
        if isOver { stream.handle.close() }
        return stream
    }

    /// Says which task it is, before that is resumed.
    ///
    /// - Returns: Whether it is still wanted.
    func begin(with task: URLSessionTask) -> Bool {
        state.withLock { state in
            guard state.outcome == nil else { return false }
            state.task = task
            return true
        }
    }

    // MARK: Receiving

    func receive(_ response: HTTPURLResponse) {
        let failure = state.withLock { state -> SessionError? in
            guard state.outcome == nil, response.statusCode >= 200 else { return nil }
            let head = ResponseHead(response, method: hop.method)
            state.head = head
            state.received = 0
            state.sink = hop.follows(head) ? .nothing : makeSink(head)
            if case .memory(_, let limit, dropsRest: false) = state.sink, let length = head.length,
                length > Int64(limit)
            {
                return .tooLarge(limit)
            }
            if state.sink.isForTheCaller { meter?.advance(to: 0, of: head.length) }
            return nil
        }
        if let failure { fail(failure) }
    }

    func receive(_ chunk: Data) {
        let failure = state.withLock { state -> SessionError? in
            guard state.outcome == nil else { return nil }
            state.received += Int64(chunk.count)
            do throws(SessionError) {
                try state.sink.receive(chunk)
            } catch {
                return error
            }
            if state.sink.isForTheCaller { meter?.advance(to: state.received, of: state.head?.length) }
            return nil
        }
        if let failure { fail(failure) }
    }

    /// Takes the challenge's answer for the final one, since `URLSession` on Linux would wait for a credential for ever.
    ///
    /// - Parameter authorization: What to ask again with, where there is something.
    func challenge(_ authorization: String?) {
        end { state in
            guard let head = state.head else {
                return .failure(SessionError(.protocolError, "a challenge without an answer"))
            }
            var answer = Self.answer(head, state)
            answer.authorization = authorization
            return .success(answer)
        }
    }

    // MARK: Ending

    /// Takes the task's end for the exchange's.
    ///
    /// - Parameters:
    ///   - error: What `URLSession` says went wrong.
    ///   - response: What the task has for an answer. `URLSession` on Linux announces no redirect that lacks a Location, and
    ///     forgets its body.
    func complete(_ error: (any Error)?, _ response: HTTPURLResponse?) {
        end { state in
            if state.head == nil { state.head = response.map { ResponseHead($0, method: hop.method, hasBody: false) } }
            if let error { return outcome(of: error, state) }
            guard let head = state.head else {
                return .failure(SessionError(.protocolError, "the answer is not HTTP"))
            }
            if let length = head.length, state.received < length {
                let reason = "the response ended after \(state.received) of \(length) bytes"
                return .failure(SessionError(.truncated, reason))
            }
            do throws(SessionError) {
                if case .file(let file) = state.sink { try file.commit() }
                return .success(Self.answer(head, state))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Ends the exchange before its time, and cancels its task.
    func fail(_ error: SessionError) {
        end(cancelsTask: true) { _ in .failure(error) }
    }

    /// What an error of the task's means for the exchange.
    private func outcome(of error: any Error, _ state: State) -> Outcome {
        if let bodyError = state.stream?.error {
            return .failure(SessionError(.bodyFailed, "the body could not be read", bodyError: bodyError))
        }
        // A server that has its answer before all of the body may hang up: the answer counts, not the broken pipe.
        if let head = state.head, head.status >= 300, let stream = state.stream, !stream.isAtEnd {
            return .success(Self.answer(head, state))
        }
        var failure = SessionError(error, url: hop.url.shown)
        if let length = state.head?.length, failure.code == .connectionLost, state.received < length {
            let reason = "the response ended after \(state.received) of \(length) bytes"
            failure = SessionError(.truncated, reason, urlError: failure.urlError)
        }
        return .failure(failure)
    }

    private static func answer(_ head: ResponseHead, _ state: State) -> Answer {
        Answer(
            head: head,
            body: state.sink.body,
            sentBytes: state.stream?.position ?? 0,
            sentCompletely: state.stream?.isAtEnd ?? true
        )
    }

    private func end(cancelsTask: Bool = false, _ makeOutcome: (inout State) -> Outcome) {
        let ended = state.withLock { state -> State? in
            guard state.outcome == nil else { return nil }
            let outcome = makeOutcome(&state).mapError { error in
                var error = error
                if error.url.isEmpty { error.url = hop.url.shown }
                error.sentBytes = state.stream?.position ?? 0
                return error
            }
            state.outcome = outcome
            let ended = state
            state = State()
            state.outcome = outcome
            return ended
        }
        guard let ended, let outcome = ended.outcome else { return }
        ended.stream?.close()
        if cancelsTask, let task = ended.task { TransferSession.cancel(task) }
        ended.waiter?.resume(returning: outcome)
    }
}
