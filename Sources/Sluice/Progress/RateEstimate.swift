/// A transfer's rate, smoothed so that a reader of it is not dazzled and a change still shows within seconds.
///
/// An exponential average over time, not over samples: a sample's weight is the share of the time constant that it
/// covers, so that neither the chunk size nor a pause between chunks distorts it. The weights are made to add up to
/// one, so that the first samples count as much as they cover and not for ever.
struct RateEstimate {
    private var last: (position: Int64, time: Double)?
    private var start: (position: Int64, time: Double)?
    private var weightedRates = 0.0
    private var weights = 0.0

    /// The seconds after which an old rate counts for a third.
    private static let timeConstant = 3.0
    /// Samples closer together than this are joined, because clocks and buffers are too coarse for them.
    private static let shortestSample = 0.05

    /// The rate now; nil until there is something to go by.
    var bytesPerSecond: Double? { weights > 0 ? weightedRates / weights : nil }

    /// The rate from the start of the attempt to `time`; nil for less than a moment.
    func mean(at position: Int64, _ time: Double) -> Double? {
        guard let start, time - start.time > 0.001 else { return nil }
        return Double(position - start.position) / (time - start.time)
    }

    mutating func add(_ position: Int64, at time: Double, restarted: Bool) {
        guard let last, !restarted else {
            last = (position, time)
            start = (position, time)
            return
        }
        let seconds = time - last.time
        guard seconds >= Self.shortestSample else { return }
        let keep = Self.decay(seconds)
        weightedRates = weightedRates * keep + Double(position - last.position) / seconds * (1 - keep)
        weights = weights * keep + (1 - keep)
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
