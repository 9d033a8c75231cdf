import Foundation
import Testing

@testable import SluiceBench

@Suite struct GrowthTests {
    @Test func `What a fixed cost hides at small sizes is seen at large ones`() throws {
        let linear = Made.growth { 1e-3 + $0 * 1e-6 }
        #expect(try #require(linear.exponent) < 1.01)
        #expect(linear.isMet)
        let square = Made.growth { 1e-3 + $0 * $0 * 1e-9 }
        #expect(try #require(square.exponent) > 1.2)
        #expect(!square.isMet)
    }

    @Test func `The exponent is that of the power`() throws {
        for power in [0.5, 1, 1.5, 2] {
            let exponent = try #require(Made.growth { pow($0, power) }.exponent)
            #expect(abs(exponent - power) < 1e-9)
        }
    }

    @Test func `Memory that grows is not flat`() {
        #expect(Made.growth({ $0 }, addedMebibytes: { _ in 0.9 }).isMemoryBounded)
        #expect(!Made.growth({ $0 }, addedMebibytes: { $0 / 1000 }).isMemoryBounded)
    }

    @Test func `A curve that could not be measured to its end is not as it should be`() {
        var curve = Made.growth { $0 }
        curve.failure = "because"
        #expect(!curve.isMet)
        curve = Made.growth { $0 }
        curve.points = []
        #expect(!curve.isMet)
    }
}
