/// How long a transfer may take, and how long it may stand still.
struct TransferLimits {
    /// Which limit was passed.
    enum Passed {
        case total(Duration)
        case idle(Duration)
    }

    typealias Instant = SuspendingClock.Instant

    let start = SuspendingClock.now
    private let total: Duration?
    private let idle: Duration?
    private var lastActivity: Int64?
    private var lastChange = SuspendingClock.now

    /// Checks a request's limits; the clock starts now.
    init(_ request: CurlRequest) throws(TransferError) {
        for (name, limit) in [
            ("connectTimeout", request.connectTimeout), ("totalTimeout", request.totalTimeout),
            ("idleTimeout", request.idleTimeout),
        ] {
            guard let limit, limit <= .zero else { continue }
            throw TransferError(.invalidRequest, "\(name) is \(limit); give more than 0, or nil for no limit")
        }
        total = request.totalTimeout.map { min($0, Self.longest) }
        idle = request.idleTimeout.map { min($0, Self.longest) }
    }

    /// What a clock can still add up.
    private static let longest = Duration.seconds(1_000_000_000)

    /// The seconds so far.
    var elapsedSeconds: Double { (SuspendingClock.now - start) / .seconds(1) }

    /// When to look again; nil where there is no limit.
    func nextCheck(after now: Instant) -> Instant? {
        let end = total.map { start + $0 }
        // Often enough to be late by an eighth at most.
        let look = idle.map { now + min(max($0 / 8, .milliseconds(10)), .seconds(1)) }
        return [end, look].compactMap(\.self).min()
    }

    /// Compares the clock with the limits.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - activity: A number that changes whenever a byte moves; nil while nothing is expected to move.
    /// - Returns: The limit that was passed, if one was.
    mutating func check(at now: Instant, activity: Int64?) -> Passed? {
        if let total, now - start >= total { return .total(total) }
        guard let idle else { return nil }
        if activity == nil || activity != lastActivity {
            lastActivity = activity
            lastChange = now
        } else if now - lastChange >= idle {
            return .idle(idle)
        }
        return nil
    }
}
