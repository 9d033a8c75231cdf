/// How long a transfer may take, and how long it may stand still.
struct TransferLimits {
    /// Which limit was passed.
    enum Passed {
        case total(seconds: Double)
        case idle(seconds: Double)
    }

    typealias Instant = SuspendingClock.Instant

    private let start = SuspendingClock.now
    private let totalSeconds: Double?
    private let idleSeconds: Double?
    private var lastActivity: Int64?
    private var lastChange = SuspendingClock.now

    /// Checks a request's limits; the clock starts now.
    init(_ request: Request) throws(TransferError) {
        for (name, seconds) in [
            ("connectTimeout", request.connectTimeout), ("totalTimeout", request.totalTimeout),
            ("idleTimeout", request.idleTimeout),
        ] {
            guard let seconds, !(seconds > 0) else { continue }
            throw TransferError(.invalidRequest, "\(name) is \(seconds) seconds; give more than 0, or nil for no limit")
        }
        totalSeconds = request.totalTimeout
        idleSeconds = request.idleTimeout
    }

    /// The seconds so far.
    var elapsedSeconds: Double { Self.seconds(from: start, to: SuspendingClock.now) }

    /// When to look again; nil where there is no limit.
    func nextCheck(after now: Instant) -> Instant? {
        let total = totalSeconds.map { start + Self.duration($0) }
        // Often enough to be late by an eighth at most.
        let idle = idleSeconds.map { now + Self.duration(min(max($0 / 8, 0.01), 1)) }
        return [total, idle].compactMap(\.self).min()
    }

    /// Compares the clock with the limits.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - activity: A number that changes whenever a byte moves; nil while there is no connection.
    /// - Returns: The limit that was passed, if one was.
    mutating func check(at now: Instant, activity: Int64?) -> Passed? {
        if let totalSeconds, Self.seconds(from: start, to: now) >= totalSeconds { return .total(seconds: totalSeconds) }
        guard let idleSeconds else { return nil }
        if activity == nil || activity != lastActivity {
            lastActivity = activity
            lastChange = now
        } else if Self.seconds(from: lastChange, to: now) >= idleSeconds {
            return .idle(seconds: idleSeconds)
        }
        return nil
    }

    private static func duration(_ seconds: Double) -> Duration { .milliseconds(Int64(min(seconds, 1e9) * 1000)) }

    private static func seconds(from start: Instant, to end: Instant) -> Double {
        let duration = end - start
        return Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
    }
}
