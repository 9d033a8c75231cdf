import Sluice
import SluiceTestSupport
import Testing

/// RFC 9110 section 5.1 and 5.5: a field's name is a token, and its value stays within its line.
@Suite struct HeaderFieldTests {
    /// RFC 9110 section 5.6.2, as it is printed there.
    private static let tchar =
        "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

    @Test func `A name is made of exactly the token characters`() {
        let allowed = Set(Self.tchar.utf8)
        for byte in UInt8.min...0x7F {
            let name = "X" + String(decoding: [byte], as: UTF8.self)
            #expect(((try? HeaderField(name, "v")) != nil) == allowed.contains(byte), "byte \(byte)")
        }
    }

    @Test(arguments: ["", " X", "X ", "X:", "X Y", "X\r\nY", "\u{E9}", "X\u{301}"])
    func `A name that is no token is refused`(name: String) {
        #expect(throwing(.invalidHeader) { try HeaderField(name, "v") })
    }

    @Test(arguments: ["a\r\nX-Injected: 1", "a\rb", "a\nb", "\r\n", "\n", "\0", "a\0", "a\r\n b"])
    func `A value that leaves its line is refused`(value: String) {
        #expect(throwing(.invalidHeader) { try HeaderField("X-A", value) })
    }

    @Test(arguments: ["", " ", "a", "a\tb", "\"a; b=c\"", "\u{E9}", "\u{1F4A9}", "a: b", "\u{85}", "\u{2028}"])
    func `Any other value is sent as it is`(value: String) throws {
        var form = MultipartForm(boundary: try Boundary("B"))
        try form.append(.file("n", bytes: [], filename: "", headers: [try HeaderField("X-A", value)]))
        #expect(
            try form.body().text()
                == "--B\r\nContent-Disposition: form-data; name=\"n\"; filename=\"\"\r\n"
                + "Content-Type: application/octet-stream\r\nX-A: \(value)\r\n\r\n\r\n--B--\r\n"
        )
    }

    @Test(arguments: ["Content-Disposition", "content-disposition", "CONTENT-TYPE", "Content-Type"])
    func `The engine's own headers are refused in every spelling`(name: String) {
        #expect(throwing(.invalidHeader) { try HeaderField(name, "x") })
    }

    @Test(arguments: [
        "Content-Transfer-Encoding", "Content-Encoding", "Content-Length", "Content-ID", "X-Content-Type",
    ])
    func `Other headers are the caller's to send`(name: String) throws {
        #expect(try HeaderField(name, "x").name == name)
    }

    @Test func `Headers are sent in the caller's order, behind disposition and type`() throws {
        let headers = [
            try HeaderField("X-B", "1"), try HeaderField("X-A", "2"), try HeaderField("X-B", "3"),
        ]
        var form = MultipartForm(boundary: try Boundary("B"))
        try form.append(.file("n", bytes: [7], filename: "f.txt", headers: headers))
        #expect(
            try form.body().text()
                == "--B\r\nContent-Disposition: form-data; name=\"n\"; filename=\"f.txt\"\r\n"
                + "Content-Type: text/plain\r\nX-B: 1\r\nX-A: 2\r\nX-B: 3\r\n\r\n\u{7}\r\n--B--\r\n"
        )
    }
}
