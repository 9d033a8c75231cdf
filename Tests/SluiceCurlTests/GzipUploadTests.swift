import Sluice
import SluiceCurl
import SluiceTestSupport
import Testing

/// Compressed parts over HTTP.
@Suite(.timeLimit(.minutes(5))) struct GzipUploadTests {
    private let client = CurlClient()
    private let noise = TemporaryDirectory.noise(900_000)

    private func body(_ length: Gzip.Length, workers: Gzip.Workers = 2) throws -> MultipartBody {
        try MultipartForm {
            Part.field("title", "Holiday")
            Part.file("data", bytes: noise, filename: "noise.bin").gzip(workers: workers, length: length)
        }.body()
    }

    @Test(arguments: [Gzip.Length.unknown, .measured, .spooled(memoryLimit: 1000)], [1, 3])
    func `An upload arrives, framed as its length is known`(length: Gzip.Length, workers: Int) async throws {
        let body = try body(length, workers: .init(workers))
        let account = try Account(await client.upload(body, to: Fixtures.server.url("/upload")))
        #expect(account.values("transfer-encoding") == (length == .unknown ? ["chunked"] : []))
        #expect(account.values("content-length") == (body.contentLength.map { ["\($0)"] } ?? []))
        try await expectNoise(account)
    }

    @Test(arguments: [Gzip.Length.unknown, .measured, .spooled(memoryLimit: 1000)], [307, 308])
    func `A redirect has it compressed again`(length: Gzip.Length, code: Int) async throws {
        let url = try await Fixtures.server.url("/redirect/\(code)?to=/upload&drain=1")
        try await expectNoise(try Account(await client.upload(try body(length), to: url)))
    }

    @Test func `A source that fails ends the upload with its error`() async throws {
        let source = ScriptedSource(noise, failsAfter: 500_000)
        let body = try MultipartForm { Part.file("bad", source, filename: "f").gzip(workers: 2) }.body()
        let error = try #require(
            await failure { try await client.upload(body, to: try await Fixtures.server.url("/upload")) }
        )
        #expect(error.code == .bodyFailed)
        #expect(error.bodyError?.code == .readFailed && error.bodyError?.part?.name == "bad")
    }

    /// The part as the server has it is a member that others decompress to the noise.
    private func expectNoise(_ account: Account) async throws {
        let part = try #require(account.parts?.last)
        #expect(account.parts?.map(\.name) == ["title", "data"])
        #expect(part.filename == "noise.bin.gz" && part.contentType == "application/gzip")
        let framed = try OnePart.body(try GzipSource(ScriptedSource(noise))).bytes()
        let member = Array(framed.dropFirst(OnePart.head.count).dropLast(OnePart.tail.count))
        #expect(try await difference(#require(Gunzip.decompress([member])[0]), noise) == nil)
        #expect(try await part.sha256 == ForeignParsers.sha256(of: [member])[0])
    }
}
