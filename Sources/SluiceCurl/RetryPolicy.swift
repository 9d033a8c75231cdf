/// What is tried again, how often, and after what delay.
///
/// By default only what is safe is: a request of which the server got nothing of the body, one that it says it did not act
/// on, and one whose method makes no difference when it is repeated (RFC 9110 section 9.2.2: `GET`, `HEAD`, `PUT`, `DELETE`,
/// `OPTIONS`, `TRACE`). A body that can be read once is never sent again: then the error, or the answer, is what the first
/// attempt gave, and the error says why.
///
/// ```swift
/// request.retry = RetryPolicy(maximumAttempts: 5)
/// request.retry.deadline = .seconds(600)
/// ```
///
/// The delay doubles from ``baseDelay`` up to ``maximumDelay``; a random share of up to a half is taken off, so that many
/// clients of a server that fails do not come back all at once. No thread waits meanwhile, and cancelling the task ends the
/// wait at once.
public struct RetryPolicy: Sendable {
    /// How often is tried in all; 1 is no retry.
    public var maximumAttempts: Int
    /// The delay before the second attempt.
    public var baseDelay = Duration.seconds(1)
    /// The longest delay, but for what a server asks for.
    public var maximumDelay = Duration.seconds(60)
    /// How long after the call the last attempt may begin; nil for no limit.
    public var deadline: Duration?
    /// The longest `Retry-After` that is waited for; where a server asks for more, its answer is the response.
    public var maximumRetryAfter = Duration.seconds(300)
    /// The answers that say that the request was not acted on, so that any method may be tried again.
    public var statuses: Set<Int> = [408, 429, 503]
    /// The answers after which methods are tried again that make no difference when they are repeated.
    public var idempotentStatuses: Set<Int> = [502, 504]
    /// Whether also `POST`, `PATCH` and other methods are tried again where the server may have acted on the request
    /// already: after a connection that was lost in the middle and after ``idempotentStatuses``.
    ///
    /// For servers that recognise a request that comes twice, by a key in it for example.
    public var repeatsAnyMethod = false

    /// A number from 0 to 1 for the random share of a delay.
    var random: @Sendable () -> Double = { Double.random(in: 0..<1) }

    /// Tries again what is safe.
    ///
    /// - Parameter maximumAttempts: How often is tried in all.
    public init(maximumAttempts: Int = 4) {
        self.maximumAttempts = maximumAttempts
    }

    /// Tries once.
    public static let never = RetryPolicy(maximumAttempts: 1)

    /// What makes the policy senseless; nil where it is none.
    var flaw: String? {
        if maximumAttempts < 1 { return "the retry policy allows \(maximumAttempts) attempts; give 1 or more" }
        if baseDelay < .zero || maximumDelay < .zero || maximumRetryAfter < .zero {
            return "a delay of the retry policy is negative"
        }
        if let deadline, deadline < .zero { return "the deadline of the retry policy is negative" }
        return nil
    }

    /// Whether a request of this method can be repeated without a difference.
    static func isIdempotent(_ method: String) -> Bool {
        ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"].contains(method)
    }

    /// The delay before the attempt behind this one, from 1.
    func delay(after attempt: Int) -> Duration {
        // Doubled one by one, up to what a clock can still add up.
        let longest = min(maximumDelay, .seconds(1_000_000_000))
        var delay = min(baseDelay, longest)
        for _ in 1..<max(min(attempt, 64), 1) where delay < longest { delay = min(delay * 2, longest) }
        return delay - delay * (min(max(random(), 0), 1) / 2)
    }
}

/// An attempt that failed, and the one that is to follow.
public struct RetryNotice: Sendable {
    /// Why the attempt before was not the last.
    public enum Reason: Sendable {
        /// There was no answer.
        case error(TransferError)
        /// The answer had this status.
        case status(Int)
    }

    /// The number of the attempt that follows, from 2.
    public let attempt: Int
    /// Why there is another attempt.
    public let reason: Reason
    /// After what time it begins.
    public let delay: Duration
}

extension RetryNotice.Reason: CustomStringConvertible {
    /// The reason in a few words.
    public var description: String {
        switch self {
        case .error(let error): error.description
        case .status(let status): "the server answered \(status)"
        }
    }
}
