import Testing

@testable import SluiceTool

@Suite struct RequestGuardTests {
    private let visitors = RequestGuard(allowing: ["Box.example"])

    @Test(arguments: [
        "localhost", "LOCALHOST:8080", "127.0.0.1", "192.168.0.1:80", "[::1]", "[fe80::1]:8080", "box.EXAMPLE:1",
    ])
    func `Addresses and known names are let in`(host: String) {
        #expect(visitors.refusal(host: host, origin: nil, site: nil) == nil)
    }

    @Test(arguments: [
        nil, "", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "1.2.3", "1.2.3.4.5", "127.0.0.x",
        "evil.example:127.0.0.1", "1234.1.1.1", "[::1].evil.example", "box.example.",
    ])
    func `Other names are not`(host: String?) {
        #expect(visitors.refusal(host: host, origin: nil, site: nil) != nil)
    }

    @Test(arguments: ["http://localhost:8080", "https://localhost:8080", "HTTP://LOCALHOST:8080"])
    func `The server's own page is let in`(origin: String) {
        #expect(visitors.refusal(host: "localhost:8080", origin: origin, site: "same-origin") == nil)
    }

    @Test(arguments: [
        "null", "", "http://localhost", "http://localhost:80800", "http://evil.example", "http://localhost:8080/",
    ])
    func `Pages of other origins are not`(origin: String) {
        #expect(visitors.refusal(host: "localhost:8080", origin: origin, site: nil) != nil)
    }

    @Test(arguments: ["cross-site", "same-site", "anything"])
    func `What a browser calls another site is not`(site: String) {
        #expect(visitors.refusal(host: "localhost", origin: nil, site: site) != nil)
    }
}
