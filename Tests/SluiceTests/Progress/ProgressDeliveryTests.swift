import SluiceTestSupport
import Synchronization
import Testing

@testable import Sluice

/// What a consumer of the progress sees of real transfers: every single report, and those of the public functions.
@Suite(.timeLimit(.minutes(5))) struct ProgressDeliveryTests {
    private final class Log: Sendable {
        private let list = Mutex<[TransferProgress]>([])
        var reports: [TransferProgress] { list.withLock { $0 } }
        var add: @Sendable (TransferProgress) -> Void { { report in self.list.withLock { $0.append(report) } } }
    }

    enum Way: CaseIterable, Sendable { case pipe, file, chunks, smallChunks }

    /// Every report of a transfer: with no least interval between two.
    private func reports(of body: MultipartBody, _ way: Way) async throws -> [TransferProgress] {
        let log = Log()
        let meter = ProgressMeter(body, interval: 0, handler: log.add)
        switch way {
        case .pipe:
            _ = try await Channel.pipe().collect(step: 7) { target in
                var writer = try DescriptorWriter(body, to: target, interrupt: nil, meter: meter)
                try writer.write()
            }
        case .file:
            let directory = try TemporaryDirectory()
            let path = try directory.file("target", [])
            try await onThread {
                let target = try Files.descriptor(of: path, 1)
                defer { Files.close(target) }
                var writer = try DescriptorWriter(body, to: target, interrupt: nil, meter: meter)
                try writer.write()
            }
        case .chunks, .smallChunks:
            var iterator = BodyChunks.Iterator(body, way == .chunks ? 1000 : 3, meter)
            while try await iterator.next() != nil {}
        }
        meter.finish(completed: true)
        return log.reports
    }

    /// Checks the reports against where the parts lie in the reference encoder's output.
    private func check(
        _ reports: [TransferProgress],
        of body: MultipartBody,
        startingAt start: Int64,
        _ way: Way
    ) throws {
        let ranges = try SampleForm(isLengthKnown: true).form.body().contentRanges.compactMap(\.self)
        for (report, next) in zip(reports, reports.dropFirst()) {
            #expect(next.completedBytes >= report.completedBytes && next.elapsedSeconds >= report.elapsedSeconds)
            #expect((next.part?.index ?? 0) >= (report.part?.index ?? 0))
            #expect(!report.isLast)
        }
        for report in reports {
            #expect(report.totalBytes == body.contentLength || report.isLast)
            #expect(report.completedBytes <= report.totalBytes ?? .max)
            let part = try #require(report.part)
            #expect(part.label == body.parts[part.index] && part.count == body.parts.count)
            #expect(part.completedBytes <= part.totalBytes ?? .max)
            // At an edge the part before is complete, and the part behind has begun: both are right.
            let position = start + report.completedBytes
            let range = ranges[part.index]
            let previousEnd = part.index == 0 ? 0 : ranges[part.index - 1].upperBound
            #expect(
                previousEnd...(part.index == ranges.count - 1 ? .max : range.upperBound) ~= position,
                "\(way): \(report)"
            )
            let done = min(max(position - range.lowerBound, 0), range.upperBound - range.lowerBound)
            #expect(part.completedBytes == done, "\(way): \(report)")
        }
        let last = try #require(reports.last)
        #expect(last.isFinished && last.isLast && last.completedBytes == last.totalBytes)
    }

    @Test(arguments: Way.allCases, [true, false])
    func `Every report names the part, how far it is, and no byte of its head`(
        way: Way,
        isLengthKnown: Bool
    ) async throws {
        let body = try SampleForm(isLengthKnown: isLengthKnown).form.body()
        let reports = try await reports(of: body, way)
        #expect(reports.count > 5)
        try check(reports, of: body, startingAt: 0, way)
    }

    @Test(arguments: Way.allCases, [0, 1, 20, 33, 60, 90, 106])
    func `The reports of a slice are about the slice's bytes, and the part they lie in`(
        way: Way,
        start: Int64
    ) async throws {
        let body = try SampleForm(isLengthKnown: true).form.body()
        for length in [1, 10, 100] as [Int64] {
            let slice = try body.slice(start..<start + length)
            try check(await reports(of: slice, way), of: slice, startingAt: start, way)
        }
    }

    @Test(arguments: [true, false])
    func `The public ways report the first and the last of it`(isLengthKnown: Bool) async throws {
        let sample = try SampleForm(isLengthKnown: isLengthKnown)
        let body = try sample.form.body()
        let (chunks, writing) = (Log(), Log())
        for try await _ in body.chunks(ofSize: 10, progress: chunks.add) {}
        _ = try await Channel.pipe().collect { try body.write(to: $0, progress: writing.add) }
        for log in [chunks, writing] {
            let last = try #require(log.reports.last)
            #expect(last.isFinished && last.completedBytes == Int64(sample.expected.count))
            #expect(log.reports.first?.attempt == 1 && log.reports.first?.isFinished == false)
        }
    }

    @Test func `A transfer that fails ends in a report that says so`() async throws {
        let body = try OnePart.body(ScriptedSource([1, 2, 3], knownLength: 3, failsAfter: 2))
        let (chunks, writing) = (Log(), Log())
        #expect(await failure { try await body.chunks(progress: chunks.add).all() }?.code == .readFailed)
        let error = await failure {
            try await Channel.pipe().collect { try body.write(to: $0, progress: writing.add) }
        }
        #expect(error?.code == .readFailed)
        for log in [chunks, writing] {
            #expect(log.reports.last?.isLast == true && log.reports.last?.isFinished == false)
            #expect(log.reports.last?.completedBytes == Int64(OnePart.head.count + 2))
        }
    }

    @Test func `Each iteration has a progress of its own`() async throws {
        let log = Log()
        let chunks = try SampleForm(isLengthKnown: true).form.body().chunks(progress: log.add)
        for _ in 0..<3 { _ = try await chunks.all() }
        #expect(log.reports.filter(\.isFinished).count == 3)
        #expect(log.reports.allSatisfy { $0.attempt == 1 })
    }
}
