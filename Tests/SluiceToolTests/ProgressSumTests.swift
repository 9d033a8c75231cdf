import Sluice
import SluiceTestSupport
import Testing

@testable import SluiceTool

@Suite struct ProgressSumTests {
    /// A report of a transfer that is so far, of as many bytes as the server says.
    private func report(_ completed: Int64, of total: Int64?) throws -> TransferProgress {
        let last = Box<TransferProgress>()
        let meter = ProgressMeter { last.value = $0 }
        meter.advance(to: completed, of: total)
        return try #require(last.value)
    }

    @Test(
        arguments: [
            ([10, 20], 30), ([10, nil], nil), ([.max, .max], .max), ([.max, 1], .max), ([0, .max], .max),
            ([.max, .max, .max], .max),
        ] as [([Int64?], Int64?)]
    )
    func `The sum of what servers say is no more than there is a number for`(lengths: [Int64?], total: Int64?) throws {
        let sum = ProgressSum(lengths.map { _ in nil })
        var last: TransferProgress?
        for (number, length) in lengths.enumerated() {
            last = try sum.add(report(5, of: length), of: number)?.progress ?? last
        }
        for number in lengths.indices { last = sum.end(number, succeeded: false)?.progress ?? last }
        let progress = try #require(last)
        #expect(progress.completedBytes == 5 * Int64(lengths.count))
        #expect(progress.totalBytes == total)
    }

    @Test func `What is completed does not overflow either`() throws {
        let sum = ProgressSum([nil, nil])
        _ = try sum.add(report(.max, of: .max), of: 0)
        _ = try sum.add(report(.max, of: .max), of: 1)
        _ = sum.end(0, succeeded: true)
        let progress = try #require(sum.end(1, succeeded: true)?.progress)
        #expect(progress.completedBytes == .max && progress.isFinished)
    }

    @Test func `A transfer that begins again counts with what it has now`() throws {
        let sum = ProgressSum([100, 100])
        _ = try sum.add(report(90, of: 100), of: 0)
        _ = try sum.add(report(10, of: 100), of: 1)
        let again = try sum.add(report(20, of: 100), of: 0)
        #expect(again?.progress.completedBytes == 30)
        #expect(again?.progress.totalBytes == 200)
    }
}
