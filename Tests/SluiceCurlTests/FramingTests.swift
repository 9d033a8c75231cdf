import Sluice
import SluiceCurl
import SluiceTestSupport
import Testing

/// What goes over the wire, by the bytes that a plain socket received.
@Suite struct FramingTests {
    private let directory: TemporaryDirectory
    private let server: ServerProcess
    private let client = CurlClient()

    init() async throws {
        directory = try TemporaryDirectory()
        server = try await ServerProcess.started("raw_server.py", "--mode", "record", "--record", directory.path)
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE"])
    func `A body of known length goes with its exact Content-Length and nothing else`(method: String) async throws {
        let body = try Fixtures.form(100_000)
        let response = try await client.upload(body, CurlRequest(method, url: server.url("/there?a=b")))
        let recorded = try Recorded(directory)
        #expect(recorded.requestLine == "\(method) /there?a=b HTTP/1.1")
        #expect(recorded.values("content-length") == ["\(recorded.body.count)"])
        #expect(recorded.values("transfer-encoding") == [])
        #expect(recorded.values("expect") == [])
        #expect(recorded.values("content-type") == [body.contentType])
        #expect(try recorded.body == body.collect(upTo: 1 << 20))
        #expect(response.sentBytes == Int64(recorded.body.count))
        #expect(response.sentCompletely)
    }

    @Test(arguments: ["POST", "PUT", "PATCH"], [1000, 600_000])
    func `A body of unknown length goes in chunks and without Content-Length`(method: String, count: Int) async throws {
        let body = try Fixtures.onceForm(count, knownLength: false)
        var request = CurlRequest(method, url: server.url("/"))
        request.uploadBufferSize = 64 * 1024
        let response = try await client.upload(body, request)
        let recorded = try Recorded(directory)
        #expect(recorded.requestLine == "\(method) / HTTP/1.1")
        #expect(recorded.values("content-length") == [])
        #expect(recorded.values("transfer-encoding") == ["chunked"])
        #expect(response.sentCompletely)
        // The server took the chunks apart.
        let account = try Account(response)
        #expect(account.size == Int(response.sentBytes))
        #expect(try #require(account.size) > count)
    }

    @Test func `The body's boundary is the one that Content-Type names`() async throws {
        let body = try MultipartForm(boundary: Boundary("a boundary?")) { Part.field("a", "b") }.body()
        _ = try await client.upload(body, to: server.url("/"))
        let recorded = try Recorded(directory)
        #expect(recorded.values("content-type") == [#"multipart/form-data; boundary="a boundary?""#])
        #expect(String(decoding: recorded.body, as: UTF8.self).hasPrefix("--a boundary?\r\n"))
    }

    @Test func `Header fields are sent as they were added`() async throws {
        var request = CurlRequest(url: server.url("/"))
        try request.addHeader("X-One", "1")
        try request.addHeader("X-Two", "ä; b=\"c\"")
        try request.addHeader("X-Two", "again")
        try request.addHeader("X-Empty", "")
        try request.addHeader("Content-Type", "multipart/form-data; boundary=other")
        try request.addHeader("Accept", "application/json")
        _ = try await client.upload(Fixtures.form(), request)
        let recorded = try Recorded(directory)
        #expect(recorded.values("x-one") == ["1"])
        #expect(recorded.values("x-two") == ["ä; b=\"c\"", "again"])
        #expect(recorded.values("x-empty") == [""])
        #expect(recorded.values("content-type") == ["multipart/form-data; boundary=other"])
        #expect(recorded.values("accept") == ["application/json"])
        #expect(recorded.values("user-agent") == [CurlClient.Configuration().userAgent])
        #expect(recorded.values("expect") == [])
    }

    @Test func `The client and the request can name themselves`() async throws {
        var configuration = CurlClient.Configuration()
        configuration.userAgent = "test/1"
        let client = CurlClient(configuration)
        var request = CurlRequest(url: server.url("/"))
        _ = try await client.upload(Fixtures.form(), request)
        try request.addHeader("User-Agent", "test/2")
        _ = try await client.upload(Fixtures.form(), request)
        #expect(try Recorded(directory, 1).values("user-agent") == ["test/1"])
        #expect(try Recorded(directory, 2).values("user-agent") == ["test/2"])
    }

    @Test(arguments: [
        (CurlRequest.ExpectContinue.always, 10, true), (.automatic, 10, false), (.automatic, 2 << 20, true),
        (.never, 2 << 20, false),
    ])
    func `The server is asked before the body as the request says`(
        rule: CurlRequest.ExpectContinue,
        count: Int,
        asks: Bool
    ) async throws {
        var request = CurlRequest(url: server.url("/"))
        request.expectContinue = rule
        let response = try await client.upload(Fixtures.form(count), request)
        #expect(response.status == 200)
        #expect(try Recorded(directory).values("expect") == (asks ? ["100-continue"] : []))
    }

    @Test func `A server that does not say 100 Continue gets the body all the same`() async throws {
        let server = try await ServerProcess.started("raw_server.py", "--mode", "no-continue")
        var request = CurlRequest(url: server.url("/"))
        request.expectContinue = .always
        let body = try Fixtures.form(5000)
        let response = try await client.upload(body, request)
        #expect(try Account(response).size == Int(#require(body.contentLength)))
    }

    @Test func `A body of no bytes is sent as such`() async throws {
        let response = try await client.upload(Fixtures.form().slice(5..<5), to: server.url("/"))
        #expect(try Recorded(directory).values("content-length") == ["0"])
        #expect(try Account(response).size == 0)
        #expect(response.sentCompletely)
    }
}
