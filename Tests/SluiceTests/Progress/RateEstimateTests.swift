import Testing

@testable import Sluice

/// The rate that is shown: an exponential average over three seconds.
@Suite struct RateEstimateTests {
    /// Adds samples of a constant rate.
    private func run(
        _ rate: inout RateEstimate,
        from start: (position: Double, time: Double),
        bytesPerSecond: Double,
        seconds: Double,
        samplesPerSecond: Double
    ) -> (position: Double, time: Double) {
        let count = Int(seconds * samplesPerSecond)
        for number in 1...count {
            let elapsed = Double(number) / samplesPerSecond
            let position = start.position + elapsed * bytesPerSecond
            rate.add(Int64(position), at: start.time + elapsed, restarted: false)
        }
        return (start.position + seconds * bytesPerSecond, start.time + seconds)
    }

    @Test(arguments: [1.0, 10, 100, 1000], [1e3, 1e6, 1e10])
    func `A constant rate is that rate, however often it is sampled`(
        samplesPerSecond: Double,
        bytesPerSecond: Double
    ) throws {
        var rate = RateEstimate()
        rate.add(0, at: 0, restarted: false)
        #expect(rate.bytesPerSecond == nil)
        _ = run(&rate, from: (0, 0), bytesPerSecond: bytesPerSecond, seconds: 20, samplesPerSecond: samplesPerSecond)
        #expect(try abs(#require(rate.bytesPerSecond) / bytesPerSecond - 1) < 0.01)
    }

    @Test(arguments: [4.0, 20, 1000])
    func `A change shows to two thirds after three seconds`(samplesPerSecond: Double) throws {
        var rate = RateEstimate()
        rate.add(0, at: 0, restarted: false)
        let change = run(&rate, from: (0, 0), bytesPerSecond: 1e6, seconds: 30, samplesPerSecond: samplesPerSecond)
        let end = run(&rate, from: change, bytesPerSecond: 2e6, seconds: 3, samplesPerSecond: samplesPerSecond)
        // 1 - 1/e of the way.
        #expect(try abs(#require(rate.bytesPerSecond) - 1.632e6) < 0.03e6)
        _ = run(&rate, from: end, bytesPerSecond: 2e6, seconds: 12, samplesPerSecond: samplesPerSecond)
        #expect(try abs(#require(rate.bytesPerSecond) - 2e6) < 0.03e6)
    }

    @Test func `A pause pulls the rate down once, and not for good`() throws {
        var rate = RateEstimate()
        rate.add(0, at: 0, restarted: false)
        let before = run(&rate, from: (0, 0), bytesPerSecond: 1e6, seconds: 10, samplesPerSecond: 10)
        // Nothing for three seconds.
        rate.add(Int64(before.position), at: before.time + 3, restarted: false)
        let low = try #require(rate.bytesPerSecond)
        #expect(low > 0.3e6 && low < 0.45e6)
        _ = run(&rate, from: (before.position, before.time + 3), bytesPerSecond: 1e6, seconds: 15, samplesPerSecond: 10)
        #expect(try abs(#require(rate.bytesPerSecond) - 1e6) < 0.02e6)
    }

    @Test func `A new attempt keeps the rate, and counts no bytes that were sent before`() throws {
        var rate = RateEstimate()
        rate.add(0, at: 0, restarted: false)
        let before = run(&rate, from: (0, 0), bytesPerSecond: 1e6, seconds: 10, samplesPerSecond: 10)
        rate.add(0, at: before.time + 1, restarted: true)
        #expect(try abs(#require(rate.bytesPerSecond) - 1e6) < 0.02e6)
        _ = run(&rate, from: (0, before.time + 1), bytesPerSecond: 1e6, seconds: 10, samplesPerSecond: 10)
        #expect(try abs(#require(rate.bytesPerSecond) - 1e6) < 0.02e6)
        #expect(try abs(#require(rate.mean(at: 10_000_000, before.time + 11)) - 1e6) < 0.02e6)
    }

    @Test func `Two moments that the clock does not tell apart are no rate`() {
        var rate = RateEstimate()
        rate.add(0, at: 5, restarted: false)
        rate.add(1000, at: 5, restarted: false)
        #expect(rate.bytesPerSecond == nil)
        #expect(rate.mean(at: 1000, 5) == nil)
    }
}
