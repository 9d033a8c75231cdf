import Testing

@testable import SluiceBench

@Suite struct SpreadTests {
    @Test(
        arguments: [([3], 3), ([1, 2], 1.5), ([5, 1, 3], 3), ([4, 1, 3, 2], 2.5), ([2, 2, 2, 9], 2)]
            as [([Double], Double)]
    )
    func `The median is the middle, or between the two in the middle`(values: [Double], median: Double) {
        #expect(Spread(values)?.median == median)
        #expect(values.median == median)
    }

    @Test func `Nothing has no spread`() {
        #expect(Spread([]) == nil)
        #expect([Double]().median == nil)
    }

    // The ranks are those of the published tables for 95 % confidence intervals of a median.
    @Test(arguments: [
        (1, 1, 1), (5, 1, 5), (6, 1, 6), (8, 1, 8), (9, 2, 8), (10, 2, 9), (12, 3, 10), (15, 4, 12), (17, 5, 13),
        (20, 6, 15), (25, 8, 18), (30, 10, 21), (50, 18, 33),
    ])
    func `The interval has the ranks that tables of the binomial distribution give`(
        count: Int,
        low: Int,
        high: Int
    ) throws {
        let spread = try #require(Spread((1...count).map(Double.init).shuffled()))
        #expect(spread.low == Double(low))
        #expect(spread.high == Double(high))
        #expect(spread.least == 1)
        #expect(spread.most == Double(count))
        #expect(spread.rounds == count)
    }

    @Test func `Pairs are compared with their neighbours in time`() throws {
        // Both sides take ten times as long in the second round: the ratio does not show it.
        let spread = try #require(Spread(ofPairs: [1, 10, 1], [2, 20, 2]))
        #expect(spread.median == 0.5)
        #expect(spread.least == 0.5)
        #expect(spread.most == 0.5)
    }

    @Test func `A pair with nothing to divide by is left out`() {
        #expect(Spread(ofPairs: [1, 1], [0, 2])?.rounds == 1)
        #expect(Spread(ofPairs: [1], [0]) == nil)
    }
}
