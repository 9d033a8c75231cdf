/// What several measurements of the same thing came to.
struct Spread: Codable, Equatable {
    /// The median.
    var median: Double
    /// Between these the true median lies with 95 % confidence, whatever way the measurements are distributed; with
    /// fewer than six of them there is no such statement, and these are the least and the most.
    var low: Double
    var high: Double
    var least: Double
    var most: Double
    var rounds: Int

    /// - Parameter values: The measurements; nil comes of none.
    init?(_ values: [Double]) {
        let sorted = values.sorted()
        guard let least = sorted.first, let most = sorted.last else { return nil }
        self.least = least
        self.most = most
        rounds = sorted.count
        median = (sorted[(rounds - 1) / 2] + sorted[rounds / 2]) / 2
        let rank = Self.rank(rounds)
        low = sorted[rank]
        high = sorted[rounds - 1 - rank]
    }

    /// The ratios of two sides that ran in turns, each with its neighbour in time: what slows both down cancels out.
    init?(ofPairs numerators: [Double], _ denominators: [Double]) {
        self.init(zip(numerators, denominators).filter { $0.1 > 0 }.map { $0 / $1 })
    }

    /// How many values lie outside the interval at either end.
    ///
    /// The median lies below the k-th smallest of n values if fewer than k fell below it, as often as a coin that is
    /// thrown n times shows heads fewer than k times.
    private static func rank(_ count: Int) -> Int {
        var probability = 1.0
        for _ in 0..<count { probability /= 2 }
        var below = 0.0
        for rank in 0..<count {
            below += probability
            if below > 0.025 { return max(rank - 1, 0) }
            probability *= Double(count - rank) / Double(rank + 1)
        }
        return 0
    }
}

extension [Double] {
    /// Their median; nil of none.
    var median: Double? { Spread(self)?.median }
}
