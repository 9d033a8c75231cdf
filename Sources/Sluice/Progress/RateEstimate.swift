/// A transfer's rate, smoothed so that a reader of it is not dazzled and a change still shows within seconds.
///
/// An exponential average over time, not over samples: a sample's weight is the share of the time constant that it
/// covers, so that neither the chunk size nor a pause between chunks distorts it.
struct RateEstimate {
    private(set) var bytesPerSecond: Double?
    private var last: (position: Int64, time: Double)?

    /// The seconds after which an old rate counts for a third.
    private static let timeConstant = 3.0
    /// Samples closer together than this are joined, because clocks and buffers are too coarse for them.
    private static let shortestSample = 0.05

    mutating func add(_ position: Int64, at time: Double, restarted: Bool) {
        guard let last, !restarted else {
            last = (position, time)
            return
        }
        let seconds = time - last.time
        guard seconds >= Self.shortestSample else { return }
        let rate = Double(position - last.position) / seconds
        if let average = bytesPerSecond {
            let keep = Self.decay(seconds)
            bytesPerSecond = average * keep + rate * (1 - keep)
        } else {
            bytesPerSecond = rate
        }
        self.last = (position, time)
    }

    /// e^-(seconds / timeConstant), without a mathematics library: (1 + x/8)^-8 is within a hundredth of it here.
    private static func decay(_ seconds: Double) -> Double {
        let base = 1 + seconds / timeConstant / 8
        let squared = base * base
        let fourth = squared * squared
        return 1 / (fourth * fourth)
    }
}
