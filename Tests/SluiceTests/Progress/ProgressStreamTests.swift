import Sluice
import SluiceTestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct ProgressStreamTests {
    private func body(of bytes: [UInt8]) throws -> MultipartBody {
        try MultipartForm { Part.file("a", bytes: bytes, filename: "a") }.body()
    }

    @Test func `The stream ends with the transfer while its reporter is still in scope`() async throws {
        let body = try body(of: [UInt8](repeating: 1, count: 100_000))
        let (updates, report) = TransferProgress.makeStream()
        async let written = onThread {
            let null = try Files.descriptor(of: "/dev/null", 1)
            defer { Files.close(null) }
            return try body.write(to: null, progress: report).bytes
        }
        var last: TransferProgress?
        for await progress in updates { last = progress }
        let progress = try #require(last)
        #expect(progress.isLast)
        #expect(progress.isFinished)
        #expect(progress.completedBytes == body.contentLength)
        #expect(try await written == body.contentLength)
        withExtendedLifetime(report) {}
    }

    @Test func `The stream of a transfer that fails ends, too`() async throws {
        let body = try MultipartForm {
            Part.file("a", GeneratorSource.once { _ in throw CancellationError() }, filename: "a")
        }.body()
        let (updates, report) = TransferProgress.makeStream()
        async let code = failure { for try await _ in body.chunks(ofSize: 10, progress: report) {} }?.code
        var last: TransferProgress?
        for await progress in updates { last = progress }
        #expect(last?.isLast == true)
        #expect(last?.isFinished == false)
        #expect(await code == .cancelled)
        withExtendedLifetime(report) {}
    }

    @Test func `The stream of an iteration that is given up ends, too`() async throws {
        let body = try body(of: [UInt8](repeating: 1, count: 100_000))
        let (updates, report) = TransferProgress.makeStream()
        for try await _ in body.chunks(ofSize: 10, progress: report) { break }
        var reports: [TransferProgress] = []
        for await progress in updates { reports.append(progress) }
        #expect(reports.last?.isLast == true)
        #expect(reports.last?.isFinished == false)
        withExtendedLifetime(report) {}
    }
}
