import Foundation
import Sluice
import SluiceFoundation
import Testing

/// A transfer shown in a Foundation Progress.
@Suite struct ProgressTests {
    @Test("A Progress follows the transfer to its end")
    func handler() throws {
        var form = MultipartForm()
        try form.addFile(name: "f", filename: "x", data: Data(pattern(1_000_000)))
        let body = try form.body()
        let progress = Progress(totalUnitCount: -1)
        let stream = body.makeInputStream(progress: Progress.handler(for: progress))
        stream.open()
        _ = read(stream, 1000)
        #expect(progress.kind == .file)
        #expect(progress.totalUnitCount == body.contentLength)
        #expect(progress.completedUnitCount == 1000)
        #expect(!progress.isFinished)
        _ = drain(stream)
        #expect(progress.completedUnitCount == body.contentLength)
        #expect(progress.fractionCompleted == 1)
        #expect(progress.isFinished)
    }

    @Test("While the total is not known the Progress is indeterminate, and at the end it is finished")
    func unknownTotal() throws {
        var form = MultipartForm()
        try form.append(.file("none", GeneratorSource.restartable { { _ in } }, filename: "none"))
        let progress = Progress(totalUnitCount: -1)
        let stream = try form.body().makeInputStream(progress: Progress.handler(for: progress))
        stream.open()
        let head = read(stream, 10).count
        #expect(progress.isIndeterminate)
        #expect(progress.completedUnitCount == Int64(head))
        _ = drain(stream)
        #expect(!progress.isIndeterminate)
        #expect(progress.isFinished)
        #expect(progress.completedUnitCount == stream.position)
    }

    @Test("Where parts are compressed the Progress counts what is read", arguments: [Gzip.Length.unknown, .measured])
    func compressed(length: Gzip.Length) throws {
        var form = MultipartForm()
        try form.append(.file("f", bytes: pattern(1_000_000), filename: "x").gzip(workers: 1, length: length))
        let progress = Progress(totalUnitCount: -1)
        let stream = try form.body().makeInputStream(progress: Progress.handler(for: progress))
        stream.open()
        _ = read(stream, 1000)
        #expect(progress.totalUnitCount > 1_000_000 && progress.totalUnitCount < 1_001_000)
        #expect(!progress.isFinished && !progress.isIndeterminate)
        _ = drain(stream)
        #expect(progress.isFinished && progress.completedUnitCount == progress.totalUnitCount)
        #expect(progress.completedUnitCount > 1_000_000)
    }

    @Test("The rate and the time that is left are told where they are known")
    func rate() async throws {
        var form = MultipartForm()
        let slow = GeneratorSource.restartable(knownLength: 1000) {
            { buffer in
                Thread.sleep(forTimeInterval: 0.06)
                for _ in 0..<min(250, buffer.freeCapacity) { buffer.append(0x78) }
            }
        }
        try form.append(.file("slow", slow, filename: "x"))
        let body = try form.body()
        let progress = Progress(totalUnitCount: -1)
        let last = await onThread {
            let stream = body.makeInputStream(progress: Progress.handler(for: progress))
            stream.open()
            return drain(stream, bufferSize: 500).last
        }
        #expect(last > 0)
        let throughput = try #require(progress.userInfo[.throughputKey] as? Int)
        #expect((100...100_000).contains(throughput))
        #expect(progress.userInfo[.estimatedTimeRemainingKey] as? Double == 0)
    }
}
