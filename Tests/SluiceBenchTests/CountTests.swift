import Testing

@testable import SluiceBench

@Suite struct CountTests {
    @Test func `A count is exact where all runs gave the same`() {
        #expect(Count([3, 3, 3])?.isExact == true)
        #expect(Count([3, 4, 3]) == Count(least: 3, most: 4))
        #expect(Count([3, 4])?.isExact == false)
    }

    @Test func `What could not be counted is no count`() {
        #expect(Count([]) == nil)
        #expect(Count([-1, -1]) == nil)
    }
}
