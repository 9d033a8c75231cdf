/// How often a transfer was tried, and whether and when to try again.
struct RetryState {
    typealias Instant = SuspendingClock.Instant

    private let policy: RetryPolicy
    private let start: Instant
    /// When no attempt may begin any more.
    private let end: Instant?
    /// The number of the present attempt, from 1.
    private(set) var attempt = 1

    init(_ request: CurlRequest, start: Instant) {
        policy = request.retry
        self.start = start
        let longest = Duration.seconds(1_000_000_000)
        end = [policy.deadline, request.totalTimeout].compactMap(\.self).min().map { start + min($0, longest) }
    }

    /// Counts another attempt.
    mutating func begin() {
        attempt += 1
    }

    // MARK: After an answer

    /// The wait after an answer; nil where it is the last word.
    func delay(after response: CurlResponse, now: Instant = .now) -> Duration? {
        let isRetried =
            policy.statuses.contains(response.status)
            || policy.idempotentStatuses.contains(response.status) && mayRepeat(response.method)
        guard isRetried else { return nil }
        var delay = policy.delay(after: attempt)
        let asked = response.header("Retry-After").flatMap {
            RetryAfter.delay($0, date: response.header("Date"), now: WallClock.seconds)
        }
        if let asked {
            guard asked <= policy.maximumRetryAfter else { return nil }
            delay = max(delay, asked)
        }
        return allowed(delay, now)
    }

    // MARK: After an error

    /// The wait after an error; nil where it is the last word.
    ///
    /// `isUntouched` says that the server got nothing of what makes it act.
    func delay(
        after error: TransferError,
        method: String,
        isUntouched: Bool,
        now: Instant = .now
    ) -> Duration? {
        let repeats = isUntouched || mayRepeat(method)
        switch error.code {
        case .couldNotResolve, .couldNotConnect: break
        case .connectionLost, .idleTimeout: guard repeats else { return nil }
        // Of connecting; the transfer's own is the last word.
        case .timeout: guard isUntouched else { return nil }
        default: return nil
        }
        return allowed(policy.delay(after: attempt), now)
    }

    /// Whether a request may be sent again on which the server may have acted.
    func mayRepeat(_ method: String) -> Bool {
        policy.repeatsAnyMethod || RetryPolicy.isIdempotent(method)
    }

    private func allowed(_ delay: Duration, _ now: Instant) -> Duration? {
        guard attempt < policy.maximumAttempts else { return nil }
        if let end, now + delay >= end { return nil }
        return delay
    }
}
