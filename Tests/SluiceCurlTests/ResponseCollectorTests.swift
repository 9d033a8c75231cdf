import Testing

@testable import SluiceCurl

/// What is made of a server's bytes, which may be anything.
@Suite struct ResponseCollectorTests {
    private func collect(
        _ head: String,
        body: String = "",
        limit: Int = 100,
        followsRedirects: Bool = true,
        isAskedAgain: Bool = true
    ) -> ResponseCollector {
        let collector = ResponseCollector(bodyLimit: limit, followsRedirects: followsRedirects)
        var requestBytes: Int64 = 1
        for line in head.split(separator: "\n", omittingEmptySubsequences: false) {
            // What libcurl sends between the answer to one request and the next.
            if line.hasPrefix("HTTP/"), collector.isHeadComplete, isAskedAgain { requestBytes += 1 }
            let goesOn = unsafe Array("\(line)\r\n".utf8).withUnsafeBytes {
                unsafe collector.takeHeader($0, requestBytes: requestBytes)
            }
            if !goesOn { break }
        }
        _ = unsafe Array(body.utf8).withUnsafeBytes { unsafe collector.takeBody($0) }
        return collector
    }

    @Test func `Only the last response counts`() {
        let head = """
            HTTP/1.1 100 Continue
            X-Interim: 1

            HTTP/1.1 103 Early Hints
            Link: </a>

            HTTP/1.1 401 Unauthorized
            WWW-Authenticate: Basic

            HTTP/1.1 200 All  is well
            Content-Type:text/plain
            X-Folded: a
            \t b

            """
        let collector = collect(head, body: "abc")
        #expect(collector.status == 200)
        #expect(collector.reason == "All  is well")
        #expect(collector.httpVersion == "HTTP/1.1")
        #expect(collector.headers.map(\.name) == ["Content-Type", "X-Folded"])
        #expect(collector.headers.map(\.value) == ["text/plain", "a b"])
        #expect(collector.isHeadComplete)
        #expect(collector.body == Array("abc".utf8))
    }

    @Test(arguments: ["HTTP/1.1 100 Continue\n\n", "HTTP/1.1 413 No\nA: b\n"])
    func `A head that has not ended is none`(head: String) {
        #expect(!collect(String(head.dropLast())).isHeadComplete)
    }

    @Test func `A field that is no text is taken all the same`() {
        let collector = collect("HTTP/1.1 200 OK\nX-A:\u{301}b\nno field\n")
        #expect(collector.headers.map(\.name) == ["X-A"])
        #expect(collector.headers.map(\.value) == ["\u{301}b"])
    }

    @Test func `Trailers are no header fields`() {
        let collector = collect("HTTP/1.1 200 OK\nA: b\n\nX-Trailer: c\n")
        #expect(collector.headers.map(\.name) == ["A"])
    }

    @Test(arguments: ["HTTP/1.1 500 Trailer", "HTTP/2: 5", "HTTP/"])
    func `A trailer that looks like a status line is no other answer`(trailer: String) {
        let collector = collect("HTTP/1.1 200 OK\nA: b\n\n\(trailer)\n", body: "abc", isAskedAgain: false)
        #expect(collector.status == 200)
        #expect(collector.headers.map(\.name) == ["A"])
        #expect(collector.body == Array("abc".utf8))
        #expect(collector.isHeadComplete)
    }

    @Test func `A body over the limit is noticed before it is kept`() {
        let collector = collect("HTTP/2 200\n", body: String(repeating: "a", count: 101))
        #expect(collector.isTooLarge)
        #expect(collector.body.isEmpty)
        #expect(collector.reason == nil)
    }

    @Test func `A redirect's body is dropped, but not one that is to be shown`() {
        #expect(collect("HTTP/1.1 302 Found\nLOCATION: /x\n", body: "abc").body.isEmpty)
        #expect(collect("HTTP/1.1 302 Found\nLocation: /x\n", body: "abc", followsRedirects: false).body.count == 3)
        #expect(collect("HTTP/1.1 302 Found\n", body: "abc").body.count == 3)
        #expect(collect("HTTP/1.1 304 Not Modified\nLocation: /x\n").redirectLocation == nil)
    }

    @Test func `Endless header fields are cut off`() {
        let head = "HTTP/1.1 200 OK\n" + String(repeating: "X-Header: value\n", count: 50_000)
        let collector = collect(head)
        #expect(collector.isHeadTooLarge)
        #expect(!collector.isHeadComplete)
    }

    // MARK: Last words

    private func lastWords(_ text: String) -> ResponseCollector {
        let collector = ResponseCollector(bodyLimit: 10, followsRedirects: true)
        collector.takeLastWords(Array(text.utf8))
        return collector
    }

    @Test func `An answer in a closed socket is read`() {
        let whole = lastWords("HTTP/1.1 413 No\r\nContent-Length: 3\r\n\r\nabcdef")
        #expect(whole.status == 413)
        #expect(whole.isHeadComplete)
        #expect(whole.body == Array("abc".utf8))
        #expect(lastWords("HTTP/1.1 413 No\r\n\r\nabcdefghijklm").body.count == 10)
        #expect(lastWords("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 507 Full\r\n\r\n").status == 507)
        #expect(lastWords("HTTP/1.1 413 No\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n").body.isEmpty)
        #expect(lastWords("HTTP/1.1 413 No\r\nContent-Length: -3\r\n\r\nabc").body.isEmpty)
    }

    @Test(arguments: ["", "\u{15}\u{3}\u{3}", "HTTP/1.1 413 No\r\nA: b\r\n", "413 No\r\n\r\n", "HTTP/1.1 413 No"])
    func `Other bytes in a closed socket are no answer`(text: String) {
        #expect(!lastWords(text).isHeadComplete)
    }

    // MARK: Redaction

    @Test(arguments: [
        ("http://u:p@h/", "http://h/"), ("see http://u:p@h/a and https://v@i", "see http://h/a and https://i"),
        ("http://h/a@b", "http://h/a@b"), ("http://h?a@b", "http://h?a@b"), ("mail a@b", "mail a@b"),
        ("http://u:p@q@h/", "http://h/"), ("'http://u:p@h'", "'http://h'"), ("://@", "://"), ("http://u:p@", "http://"),
    ])
    func `User and password are cut out of URLs`(text: String, expected: String) {
        #expect(Redaction.withoutUserInfo(text) == expected)
    }

    @Test func `Words about secret header fields are cut off`() {
        #expect(Redaction.info("h2h3 [Cookie: a=b]") == "h2h3 [cookie: <redacted>")
        #expect(Redaction.info("Connected to h") == "Connected to h")
        #expect(Redaction.header("Set-Cookie: a") == "Set-Cookie: <redacted>")
        #expect(Redaction.header("X-Cookie: a") == nil)
        #expect(Redaction.header("Set-Cookie:\u{301}a") == "Set-Cookie: <redacted>")
    }
}
