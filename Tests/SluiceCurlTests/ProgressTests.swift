import Sluice
import SluiceCurl
import SluiceTestSupport
import Testing

@Suite struct ProgressTests {
    private let client = CurlClient()

    /// Checks what holds for every transfer's reports.
    private func expectOrder(_ reports: [TransferProgress], total: Int64?) throws {
        let first = try #require(reports.first)
        let last = try #require(reports.last)
        #expect(first.completedBytes == 0)
        #expect(first.attempt == 1)
        #expect(last.isFinished)
        #expect(reports.dropLast().allSatisfy { !$0.isFinished })
        for (before, after) in zip(reports, reports.dropFirst()) {
            #expect(after.elapsedSeconds >= before.elapsedSeconds)
            if after.attempt == before.attempt {
                #expect(after.completedBytes >= before.completedBytes)
            } else {
                #expect(after.attempt == before.attempt + 1)
            }
        }
        if let total {
            #expect(reports.allSatisfy { $0.totalBytes == total && $0.completedBytes <= total })
            #expect(last.completedBytes == total)
        } else {
            #expect(reports.dropLast().allSatisfy { $0.totalBytes == nil })
            #expect(last.totalBytes == last.completedBytes)
        }
    }

    @Test func `Reports begin at nothing, rise, and end at all`() async throws {
        let server = try await ServerProcess.started("raw_server.py", "--mode", "slow-read", "--rate", "8000000")
        let body = try Fixtures.form(12_000_000)
        let reports = Reports()
        let response = try await client.upload(body, CurlRequest(url: server.url("/"))) { reports.add($0) }
        try expectOrder(reports.all, total: body.contentLength)
        // More than a second at ten reports a second, give or take.
        #expect(reports.all.count > 4)
        #expect(reports.all.contains { $0.part?.label.name == "data" && $0.completedBytes < 12_000_000 })
        #expect(Int64(try #require(Account(response).size)) == body.contentLength)
    }

    @Test func `A body of unknown length gets its total with the last report`() async throws {
        let reports = Reports()
        let noise = TemporaryDirectory.noise(200_000)
        let source = AsyncSource(ChunkSequence(noise, size: 20_000, pause: .milliseconds(20)))
        let body = try MultipartForm { Part.file("data", source, filename: "d") }.body()
        var request = try await CurlRequest(url: Fixtures.server.url("/raw"))
        request.uploadBufferSize = 16 * 1024
        let response = try await client.upload(body, request) { reports.add($0) }
        try expectOrder(reports.all, total: nil)
        #expect(reports.all.last?.completedBytes == Int64(try #require(Account(response).size)))
    }

    @Test(arguments: [10, 3_000_000])
    func `A body that is sent again is a new attempt`(count: Int) async throws {
        let body = try Fixtures.form(count)
        let reports = Reports()
        let url = try await Fixtures.server.url("/redirect/307?drain=1&to=/redirect/308%3Fdrain=1%26to=/upload")
        _ = try await client.upload(body, to: url) { reports.add($0) }
        try expectOrder(reports.all, total: body.contentLength)
        #expect(reports.all.last?.attempt == 3)
    }

    @Test func `A body that is not sent to its end is not reported as finished`() async throws {
        let directory = try TemporaryDirectory()
        let path = try directory.sparseFile("zeros", size: 64 << 20)
        let body = try MultipartForm { Part.file("data", path: path) }.body()
        let reports = Reports()
        let url = try await Fixtures.server.url("/status/413")
        #expect(try await client.upload(body, to: url) { reports.add($0) }.status == 413)
        #expect(await failure { try await client.upload(body, to: "http://127.0.0.1:1/") { reports.add($0) } } != nil)
        #expect(reports.all.count >= 4)
        #expect(reports.all.allSatisfy { !$0.isFinished })
    }
}
