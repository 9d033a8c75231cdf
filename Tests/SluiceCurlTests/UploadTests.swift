import Sluice
import SluiceCurl
import SluiceTestSupport
import Testing

@Suite struct UploadTests {
    @Test func `the server gets what was sent`() async throws {
        let server = try Fixtures.server.get()
        let client = CurlClient()
        var request = Request(url: server.url("/upload"))
        request.debug = { print($0.kind, $0.text) }
        let response = try await client.upload(Fixtures.form(), request) { print($0) }
        print(response, String(decoding: response.body, as: UTF8.self))
        await client.close()
    }
}
