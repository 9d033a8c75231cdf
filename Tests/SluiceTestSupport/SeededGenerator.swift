/// Random numbers that a seed repeats (SplitMix64), so that a failure of a random test can be seen again.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// As many random bytes.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
    }
}

/// The seeds of a random test: some that every run has, and some of this run's own.
///
/// Parameterise a test with them, and the failing one is in the report.
package func seeds(fixed: Int, fresh: Int) -> [UInt64] {
    (0..<UInt64(fixed)) + (0..<fresh).map { _ in UInt64.random(in: 1 << 32...UInt64.max) }
}
