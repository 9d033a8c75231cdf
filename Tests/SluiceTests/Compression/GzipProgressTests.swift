import SluiceTestSupport
import Synchronization
import Testing

@testable import Sluice

/// Progress counts the bytes of the sources beside those of the body, where parts are compressed.
@Suite(.timeLimit(.minutes(5))) struct GzipProgressTests {
    private static let content = GzipSamples.text(1_500_000)

    private final class Log: Sendable {
        private let list = Mutex<[TransferProgress]>([])
        var reports: [TransferProgress] { list.withLock { $0 } }
        var add: @Sendable (TransferProgress) -> Void { { report in self.list.withLock { $0.append(report) } } }
    }

    enum Way: CaseIterable, Sendable { case reader, chunks, pipe }

    private func reports(of body: MultipartBody, _ way: Way) async throws -> [TransferProgress] {
        let log = Log()
        let meter = ProgressMeter(body, interval: 0, handler: log.add)
        switch way {
        case .reader:
            let reader = try body.makeReader()
            var bytes: [UInt8] = []
            while try reader.read(appendingTo: &bytes, upTo: 10_000) > 0 { meter.advance(to: reader.mark) }
        case .chunks:
            var iterator = BodyChunks.Iterator(body, 10_000, meter)
            while try await iterator.next() != nil {}
        case .pipe:
            _ = try await Channel.pipe().collect { target in
                var writer = try DescriptorWriter(body, to: target, interrupt: nil, meter: meter)
                try writer.write()
            }
        }
        meter.finish(completed: true)
        return log.reports
    }

    private func form(_ length: Gzip.Length, isKnown: Bool = true) throws -> MultipartForm {
        let source = ScriptedSource(Self.content, knownLength: isKnown ? Int64(Self.content.count) : nil)
        return try MultipartForm(boundary: try Boundary("b")) {
            Part.field("a", "1")
            Part.file("log", source, filename: "log").gzip(workers: 1, length: length)
            Part.file("noise", bytes: GzipSamples.random(400_000), filename: "noise").gzip(length: length)
            Part.field("z", "2")
        }
    }

    @Test(
        arguments: [Gzip.Length.unknown, .measured, .spooled(memoryLimit: 1000), .spooled(memoryLimit: 10 << 20)],
        Way.allCases
    )
    func `Source bytes go up to their total`(length: Gzip.Length, way: Way) async throws {
        let body = try form(length).body()
        let reports = try await reports(of: body, way)
        let count = Int64(try body.bytes().count)
        // The whole body, with both contents as they were.
        let compressed = [Self.content, GzipSamples.random(400_000)].map { Int64(GzipSamples.member(of: $0).count) }
        let total = count - compressed.reduce(0, +) + Int64(Self.content.count + 400_000)
        let sources = try reports.map { try #require($0.source) }
        #expect(sources.allSatisfy { $0.totalBytes == total && $0.completedBytes <= total })
        #expect(sources.map(\.completedBytes) == sources.map(\.completedBytes).sorted())
        #expect(sources.last?.completedBytes == total && reports.last?.completedBytes == count)
        #expect(reports.last?.isFinished == true && reports.last?.fractionCompleted == 1)
        #expect(Set(sources.map(\.completedBytes)).count > 5)
        #expect(reports.allSatisfy { ($0.fractionCompleted ?? -1) >= 0 && ($0.fractionCompleted ?? 2) <= 1 })
    }

    @Test(arguments: Way.allCases)
    func `Where the source's length is not known, neither is the total`(way: Way) async throws {
        let reports = try await reports(of: try form(.unknown, isKnown: false).body(), way)
        #expect(reports.dropLast().allSatisfy { $0.source?.totalBytes == nil && $0.fractionCompleted == nil })
        #expect(reports.last?.source?.totalBytes == reports.last?.source?.completedBytes)
    }

    @Test func `A body without compressed parts has no such count`() async throws {
        let body = try MultipartForm { Part.field("a", "1") }.body()
        for way in Way.allCases { #expect(try await reports(of: body, way).allSatisfy { $0.source == nil }) }
    }

    @Test func `A reader that goes on within a part counts from there`() throws {
        let body = try form(.measured).body()
        let whole = try body.makeReader()
        var bytes: [UInt8] = []
        while bytes.count < 200_000 { _ = try whole.read(appendingTo: &bytes, upTo: 1000) }
        let resumed = try body.makeReader(startingAt: Int64(bytes.count))
        _ = try resumed.read(appendingTo: &bytes, upTo: 1000)
        _ = try whole.read(appendingTo: &bytes, upTo: 1000)
        #expect(resumed.mark.position == whole.mark.position)
        #expect(resumed.mark.sourceSurplus == whole.mark.sourceSurplus)
    }
}
