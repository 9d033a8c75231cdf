import Foundation
import Sluice
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceCurl

/// Streams of HTTP/2 that are refused, reset, or lost with their connection.
@Suite struct StreamTests {
    private let client = CurlClient()
    private let body: MultipartBody

    init() throws {
        body = try Fixtures.form(300_000)
    }

    private static let lastKey = Atomic(0)

    /// A request whose streams go wrong as the words say.
    private func request(_ method: String, _ faults: String...) async throws -> CurlRequest {
        let key = Self.lastKey.add(1, ordering: .relaxed).newValue
        let url = try await Fixtures.streams.url(
            "/upload?key=\(key)&faults=\((faults + ["ok"]).joined(separator: ","))"
        )
        var request = CurlRequest(method, url: url)
        request.httpVersion = .http2PriorKnowledge
        request.retry = .quick(4)
        request.expectContinue = .never
        return request
    }

    private struct Stream: Decodable {
        let method: String
        let size: Int
    }

    /// What the server was asked.
    private func streams(_ request: CurlRequest) async throws -> [Stream] {
        var question = CurlRequest(url: request.url.replacing("/upload?", with: "/requests?"))
        question.httpVersion = .http2PriorKnowledge
        return try JSONDecoder().decode([Stream].self, from: Data(await client.download(question).body))
    }

    private var length: Int { Int(body.contentLength ?? 0) }

    @Test(arguments: ["refuse@0", "refuse@1", "refuse@200000", "goaway@0", "goaway@1", "goaway@200000"])
    func `A stream that nobody looked at is sent again`(fault: String) async throws {
        for method in ["POST", "PUT"] {
            let request = try await request(method, fault, fault)
            let response = try await client.upload(body, request)
            #expect(response.httpVersion == "HTTP/2")
            #expect(try Received(response).size == length)
            #expect(try await streams(request).map(\.method) == [method, method, method])
        }
    }

    @Test(arguments: ["reset@0", "reset@200000", "farewell@200000", "drop@1", "drop@200000"])
    func `A stream that somebody may have looked at is sent again for PUT, and not for POST`(
        fault: String
    ) async throws {
        let put = try await request("PUT", fault)
        #expect(try Received(await client.upload(body, put)).size == length)
        #expect(try await streams(put).count == 2)

        let post = try await request("POST", fault)
        let error = try #require(await failure { try await client.upload(body, post) })
        #expect(error.code == .connectionLost, "\(error)")
        #expect(try await streams(post).count == 1)
    }

    @Test(arguments: ["refuse@200000", "goaway@200000"], ["reset@1", "drop@200000"])
    func `That one stream was refused says nothing of the next one`(refusal: String, loss: String) async throws {
        let request = try await request("POST", refusal, loss)
        let error = try #require(await failure { try await client.upload(body, request) })
        #expect(error.code == .connectionLost, "\(error)")
        #expect(try await streams(request).count == 2)
    }

    @Test(arguments: ["refuse@200000", "goaway@200000"])
    func `A body that can be read once is not sent again, and the error says so`(fault: String) async throws {
        let request = try await request("POST", fault)
        let error = try #require(await failure { try await client.upload(Fixtures.onceForm(300_000), request) })
        #expect([.bodyNotReplayable, .connectionLost].contains(error.code), "\(error)")
        #expect(error.reason.contains("read only once"))
        #expect(try await streams(request).count == 1)
    }

    @Test(arguments: ["refuse@0", "goaway@0", "reset@0", "farewell@0", "drop@0"])
    func `A download is asked for again`(fault: String) async throws {
        let request = try await request("GET", fault)
        #expect(try await client.download(request).status == 200)
        #expect(try await streams(request).count == 2)
        var once = try await self.request("GET", fault)
        once.retry = .never
        // libcurl asks again by itself where it is told that nobody looked.
        if fault != "refuse@0" {
            #expect(await failure { try await client.download(once) }?.code == .connectionLost)
        }
    }

    @Test func `Requests follow each other without TLS, too`() async throws {
        let request = try await request("POST")
        for attempt in 1...3 {
            #expect(try Received(await client.upload(body, request)).attempt == attempt)
        }
        async let one = client.upload(body, request)
        async let other = client.upload(body, request)
        #expect(try await [one.status, other.status] == [200, 200])
    }

    // MARK: What libcurl says

    @Test(arguments: [
        (["REFUSED_STREAM, retrying a fresh connect"], true, false),
        (["Using Stream ID: 1 (easy handle 0x55)", "recveived GOAWAY, error=0, last_stream=0"], true, true),
        (["Using Stream ID: 3 (easy handle 0x55)", "received GOAWAY, error=11, last_stream=1"], true, true),
        (["Using Stream ID: 3 (easy handle 0x55)", "received GOAWAY, error=0, last_stream=3"], false, true),
        (["Using Stream ID: 3 (easy handle 0x55)", "received GOAWAY, error=0, last_stream=2147483647"], false, true),
        // Of which stream nobody knows.
        (["received GOAWAY, error=0, last_stream=0"], false, true),
        (["Using Stream ID: x", "GOAWAY", "last_stream=1", "GOAWAY last_stream=", "< REFUSED_STREAM"], false, false),
    ])
    func `What became of a stream is heard from libcurl`(lines: [String], isUnseen: Bool, isClosing: Bool) {
        var fate = StreamFate()
        for line in lines { fate.hear(line + "\n", hasBody: true) }
        #expect(fate.isUnseen == isUnseen)
        #expect(fate.isConnectionClosing == isClosing)
        fate.beginBody()
        #expect(!fate.isUnseen)
    }

    @Test func `What was refused is seen once it is sent again`() {
        var fate = StreamFate()
        fate.hear("REFUSED_STREAM, retrying a fresh connect\n", hasBody: true)
        fate.hear("Using Stream ID: 1 (easy handle 0x55)\n", hasBody: true)
        #expect(!fate.isUnseen)
        // Which libcurl does without a word where it has no body to ask for.
        fate.hear("REFUSED_STREAM, retrying a fresh connect\n", hasBody: false)
        #expect(!fate.isUnseen)
    }
}
