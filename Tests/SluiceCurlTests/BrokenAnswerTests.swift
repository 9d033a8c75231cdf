import Sluice
import SluiceCurl
import SluiceTestSupport
import Testing

/// Servers whose answers break off or never come to an end.
@Suite(.timeLimit(.minutes(2))) struct BrokenAnswerTests {
    private let client = CurlClient()
    private let body: MultipartBody

    init() throws {
        body = try MultipartForm { Part.file("a", bytes: [UInt8](repeating: 7, count: 300_000), filename: "a") }.body()
    }

    private func error(_ request: CurlRequest) async -> TransferError? {
        do throws(TransferError) {
            _ = try await client.upload(body, request)
            return nil
        } catch {
            return error
        }
    }

    @Test func `A refusal that breaks off is no answer where all of the body was sent`() async throws {
        let server = try await ServerProcess.started("raw_server.py", "--mode", "cut-answer")
        #expect(await error(CurlRequest(url: server.url("/")))?.code == .connectionLost)
    }

    @Test(arguments: [
        CurlRequest.Authentication.digest(user: "a", password: "b"), .any(user: "a", password: "b"),
    ])
    func `A server that calls every answer to its challenge stale does not get the body for ever`(
        authentication: CurlRequest.Authentication
    ) async throws {
        let records = try TemporaryDirectory()
        let server = try await ServerProcess.started(
            "raw_server.py",
            "--mode",
            "stale-digest",
            "--record",
            records.path
        )
        var request = CurlRequest(url: server.url("/"))
        request.authentication = authentication
        #expect(await error(request)?.code == .protocolError)
        let requests = try ChildProcess.firstLine(of: "/bin/sh", "-c", "ls '\(records.path)' | grep -c bin")
        #expect(try #require(Int(requests)) <= 10)
    }

    @Test(arguments: ["http://a%0d%0aX:b@127.0.0.1:1/", "http://a:%00@127.0.0.1:1/"])
    func `Credentials in a URL that cannot be decoded are refused, not changed`(url: String) async {
        #expect(await error(CurlRequest(url: url))?.code == .invalidRequest)
    }
}
