import Foundation
import Sluice
import Testing

@testable import SluiceFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What one request leads to, without a server.
@Suite struct SessionHopTests {
    /// The request that an answer with this Location leads to.
    private func follow(
        _ location: String,
        from url: String,
        status: Int = 302,
        allowsInsecure: Bool = false
    ) throws -> SessionHop? {
        var options = SessionOptions()
        options.allowsInsecureRedirects = allowsInsecure
        let url = try #require(URL(string: url))
        let hop = try SessionHop(URLRequest(url: url), inheriting: [:], body: nil, options: options)
        return try hop.following(
            SluiceFoundation.Answer(
                head: head(status, ["Location": location], from: url),
                body: Data(),
                sentBytes: 0,
                sentCompletely: true
            )
        )
    }

    private func head(_ status: Int, _ fields: [String: String], from url: URL) throws -> ResponseHead {
        let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields)
        return ResponseHead(try #require(response), method: "GET")
    }

    @Test(
        "From https to http is not gone unasked, by no status",
        arguments: ["http://a/x", "http://b/", "HTTP://a:443/"],
        [301, 302, 303, 307, 308]
    )
    func insecure(location: String, status: Int) throws {
        let error = #expect(throws: SessionError.self) {
            try follow(location, from: "https://user:secret@a/", status: status)
        }
        #expect(error?.code == .insecureRedirect)
        #expect(error?.description.contains("secret") == false)
        let allowed = try follow(location, from: "https://a/", status: status, allowsInsecure: true)
        #expect(allowed?.url.scheme?.lowercased() == "http")
    }

    @Test(
        "Every other way is gone",
        arguments: [
            ("https://a/", "https://b/"), ("https://a/", "/b"), ("http://a/", "https://a/"), ("http://a/", "http://b/"),
        ]
    )
    func secure(from: String, to: String) throws {
        #expect(try follow(to, from: from) != nil)
    }

    @Test(
        "A length that cannot be is none",
        arguments: [("5", 5), ("-5", nil), ("\(Int64.min)", nil), ("\(Int64.max)", .max), ("9223372036854775808", nil)]
            as [(String, Int64?)]
    )
    func length(text: String, length: Int64?) throws {
        let head = try head(200, ["Content-Length": text], from: URL(fileURLWithPath: "/"))
        #expect(head.length == length)
    }
}
