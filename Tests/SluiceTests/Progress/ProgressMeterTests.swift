import SluiceTestSupport
import Synchronization
import Testing

@testable import Sluice

@Suite struct ProgressMeterTests {
    /// A clock that tests set, and what a meter that goes by it has reported.
    private final class Log: Sendable {
        private let state = Mutex((now: 100.0, reports: [TransferProgress]()))

        var now: Double {
            get { state.withLock { $0.now } }
            set { state.withLock { $0.now = newValue } }
        }
        var reports: [TransferProgress] { state.withLock { $0.reports } }

        func meter(_ body: MultipartBody, interval: Double = 0.1) -> ProgressMeter {
            ProgressMeter(body, interval: interval, clock: { self.now }) { report in
                self.state.withLock { $0.reports.append(report) }
            }
        }
    }

    private let body: MultipartBody
    private let log = Log()

    init() throws {
        body = try OnePart.body(GeneratorSource.restartable(knownLength: 1_000_000) { { _ in } })
    }

    private func mark(_ position: Int64, part: Int? = 0, offset: Int64 = 0) -> BodyReader.Mark {
        BodyReader.Mark(position: position, part: part, offsetInPart: offset)
    }

    private var total: Int64 { body.contentLength ?? 0 }

    @Test(arguments: [0.1, 0.5])
    func `Reports come at most once an interval, besides the first and the last`(interval: Double) {
        let meter = log.meter(body, interval: interval)
        // Two seconds of a chunk a millisecond.
        for step in 1...2000 {
            log.now = 100 + Double(step) / 1000
            meter.advance(to: mark(Int64(step) * 500))
        }
        let before = log.reports
        #expect(before.count <= Int(2 / interval) + 1 && before.count >= Int(2 / interval) - 1)
        for (first, second) in zip(before, before.dropFirst()) {
            #expect(second.elapsedSeconds - first.elapsedSeconds >= interval * 0.999)
        }
        #expect(before.first?.completedBytes == 500)
        // The last one comes however short the time since the one before.
        meter.advance(to: mark(total))
        meter.finish(completed: true)
        #expect(log.reports.last?.completedBytes == total)
        #expect(log.reports.last?.isFinished == true && log.reports.last?.isLast == true)
        #expect(log.reports.filter(\.isLast).count == 1)
    }

    @Test func `Nothing is reported behind the last report`() {
        let meter = log.meter(body)
        meter.advance(to: mark(10))
        meter.finish(completed: false)
        let count = log.reports.count
        log.now += 10
        meter.advance(to: mark(20))
        meter.finish(completed: true)
        meter.finish(completed: false)
        #expect(log.reports.count == count)
        #expect(log.reports.last?.isFinished == false && log.reports.last?.isLast == true)
        #expect(log.reports.last?.completedBytes == 10)
    }

    @Test func `A transfer that begins again is a new attempt, reported at once`() {
        let meter = log.meter(body)
        meter.advance(to: mark(300))
        log.now += 0.001
        meter.advance(to: mark(0))
        #expect(log.reports.map(\.completedBytes) == [300, 0])
        #expect(log.reports.map(\.attempt) == [1, 2])
        log.now += 1
        meter.advance(to: mark(300))
        log.now += 1
        meter.advance(to: mark(200))
        meter.finish(completed: true)
        #expect(log.reports.map(\.attempt) == [1, 2, 2, 3, 3])
    }

    @Test func `What an earlier transfer left counts as done, and not in the rate`() throws {
        let meter = log.meter(body)
        meter.advance(to: mark(0))
        log.now += 0.01
        meter.resume(at: 600_000, of: 1_000_000)
        #expect(log.reports.map(\.completedBytes) == [0, 600_000])
        #expect(log.reports.map(\.resumedBytes) == [0, 600_000])
        #expect(log.reports.last?.totalBytes == 1_000_000)
        #expect(log.reports.allSatisfy { $0.attempt == 1 && $0.bytesPerSecond == nil })
        log.now += 1
        meter.advance(to: 700_000, of: 1_000_000)
        let rate = try #require(log.reports.last?.bytesPerSecond)
        #expect(abs(rate - 100_000) < 1)
        log.now += 1
        meter.advance(to: 1_000_000, of: 1_000_000)
        meter.finish(completed: true)
        let mean = try #require(log.reports.last?.bytesPerSecond)
        #expect(abs(mean - 200_000) < 1)
        #expect(log.reports.last?.resumedBytes == 600_000)
    }

    @Test func `Nothing was left where a transfer has to begin with the first byte after all`() {
        let meter = log.meter(body)
        meter.resume(at: 600_000, of: 1_000_000)
        meter.advance(to: 0, of: 900_000)
        #expect(log.reports.map(\.resumedBytes) == [600_000, 0])
        #expect(log.reports.map(\.attempt) == [1, 2])
    }

    @Test func `Completed bytes go down only where the attempt goes up`() throws {
        var random = SeededGenerator(seed: 1)
        let meter = log.meter(body, interval: 0)
        for _ in 0..<1000 {
            log.now += Double.random(in: 0...0.01, using: &random)
            meter.advance(to: mark(Int64.random(in: 0...total, using: &random)))
        }
        for (first, second) in zip(log.reports, log.reports.dropFirst()) {
            #expect(
                second.completedBytes >= first.completedBytes
                    ? second.attempt == first.attempt : second.attempt == first.attempt + 1
            )
        }
    }

    @Test func `The total is known from the start, or with the last byte`() throws {
        let meter = log.meter(body)
        meter.advance(to: mark(250_000))
        #expect(log.reports.last?.totalBytes == total)
        #expect(try abs(#require(log.reports.last?.fractionCompleted) - 250_000 / Double(total)) < 1e-12)

        let unknown = try OnePart.body(GeneratorSource.restartable { { _ in } })
        let second = Log()
        let other = second.meter(unknown)
        other.advance(to: mark(7))
        #expect(second.reports.last?.totalBytes == nil && second.reports.last?.fractionCompleted == nil)
        #expect(second.reports.last?.secondsRemaining == nil)
        other.finish(completed: true)
        #expect(second.reports.last?.totalBytes == 7 && second.reports.last?.fractionCompleted == 1)
    }

    @Test func `A transfer of nothing is complete`() throws {
        let meter = log.meter(try body.slice(5..<5))
        meter.finish(completed: true)
        #expect(log.reports.count == 1)
        #expect(
            log.reports[0].fractionCompleted == 1 && log.reports[0].completedBytes == 0 && log.reports[0].isFinished
        )
    }

    @Test func `A meter that is let go without a word reports an end that is no success`() {
        do { log.meter(body).advance(to: mark(3)) }
        #expect(log.reports.map(\.isLast) == [false, true])
        #expect(log.reports.last?.isFinished == false && log.reports.last?.completedBytes == 3)
    }

    @Test func `Behind the last part, that part is complete`() {
        let meter = log.meter(body, interval: 0)
        meter.advance(to: mark(500, offset: 400))
        #expect(log.reports.last?.part?.completedBytes == 400)
        meter.advance(to: mark(total, part: nil))
        #expect(log.reports.last?.part?.index == 0)
        #expect(log.reports.last?.part?.completedBytes == 1_000_000)
        #expect(log.reports.last?.part?.totalBytes == 1_000_000)
    }

    @Test func `Elapsed time and the time left are by the clock`() throws {
        let meter = log.meter(body, interval: 0)
        meter.advance(to: mark(0))
        for second in 1...10 {
            log.now = 100 + Double(second)
            meter.advance(to: mark(Int64(second) * 50_000))
        }
        let report = try #require(log.reports.last)
        #expect(abs(report.elapsedSeconds - 10) < 1e-9)
        #expect(try abs(#require(report.bytesPerSecond) - 50_000) < 1)
        let left = Double(total - 500_000) / 50_000
        #expect(try abs(#require(report.secondsRemaining) - left) < 0.01)
    }
}
