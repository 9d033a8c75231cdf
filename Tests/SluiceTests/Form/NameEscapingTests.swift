import Sluice
import SluiceTestSupport
import Testing

/// What is written inside the quotes of a Content-Disposition header.
@Suite struct NameEscapingTests {
    /// Names with one of each thing that has ever broken a header somewhere.
    static let awkward = [
        "", " ", "a b", "%", "%22", "%0D%0A", "a%b", ";", "a;b=c", "a; filename=\"x\"", "'", "''", "\\", "\\\\", "\\\"",
        "\"\"",
        "a\\", "\t", "\u{1}", "\u{7F}", "\u{85}", "\u{2028}", "\u{E9}", "e\u{301}", "\u{FEFF}", "\u{1F4A9}",
        "\u{202E}exe.txt",
        "\n", "\r", "\r\n", "\n\r", "\r\r\n", "\r\n\n", "\n\n", "\r\r", "\r\n\r\n", "a\r\n\r\n--B\r\n",
        "../../etc/passwd",
        "C:\\x\\y.txt", "_charset_", "&#601;", "\u{FFFD}", String(repeating: "\"", count: 100),
    ]

    private func parameter(_ name: [UInt8], _ filename: [UInt8]) -> [UInt8] {
        Array("form-data; name=\"".utf8) + name + Array("\"; filename=\"".utf8) + filename + Array("\"".utf8)
    }

    @Test(arguments: awkward, [NameEscaping.percent, .html])
    func `Names and filenames are escaped as the WHATWG's algorithm does`(text: String, escaping: NameEscaping) throws {
        let value = try ContentDisposition.formData(name: text, filename: text).headerValue(escaping)
        #expect(
            Array(value.utf8)
                == parameter(ReferenceEncoder.escapedName(text), ReferenceEncoder.escapedFilename(text))
        )
    }

    @Test(arguments: awkward.filter { text in !text.utf8.contains { $0 == 13 || $0 == 10 } })
    func `Backslash escaping puts a backslash before quotes and backslashes, and touches nothing else`(
        text: String
    ) throws {
        let value = try ContentDisposition.formData(name: text, filename: text).headerValue(.backslash)
        #expect(
            Array(value.utf8) == parameter(ReferenceEncoder.quotedPairs(text), ReferenceEncoder.quotedPairs(text))
        )
    }

    @Test(arguments: ["\r", "\n", "\0", "\r\n", "a\nb", "a\r", "a\0b"])
    func `Backslash escaping refuses what a quoted-string cannot hold`(text: String) {
        #expect(throwing(.invalidName) { try ContentDisposition.formData(name: text).headerValue(.backslash) })
        #expect(
            throwing(.invalidName) {
                try ContentDisposition.formData(name: "n", filename: text).headerValue(.backslash)
            }
        )
    }

    @Test func `A NUL is refused when the part is added, unless the form is html`() throws {
        var form = MultipartForm()
        #expect(throwing(.invalidName) { try form.addField(name: "a\0", value: "") })
        #expect(throwing(.invalidName) { try form.addFile(name: "a", filename: "\0", data: []) })
        #expect(throwing(.invalidName) { try form.addFile(name: "a", path: "/nowhere/a\0b") })
        #expect(form.parts.isEmpty)
        var html = MultipartForm(escaping: .html)
        try html.addField(name: "a\0", value: "")
        #expect(html.parts.count == 1)
    }

    @Test func `A long name costs a copy and no more`() throws {
        let name = String(repeating: "\"\n", count: 500_000)
        let value = try ContentDisposition.formData(name: name).headerValue()
        #expect(
            value.utf8.count == "form-data; name=\"\"".utf8.count + 500_000 * ("%22".utf8.count + "%0D%0A".utf8.count)
        )
    }

    @Test func `Values are bytes as they are, except in html forms, whose text fields get CRLF`() throws {
        let value = "a\nb\rc\r\nd\n\re\0\"\\%"
        for escaping in [NameEscaping.percent, .backslash, .html] {
            var form = MultipartForm(boundary: try Boundary("B"), escaping: escaping)
            try form.addField(name: "v", value: value)
            try form.addFile(name: "f", filename: "v", mimeType: "text/plain", data: Array(value.utf8))
            let sent = if case .html = escaping { ReferenceEncoder.normalisedValue(value) } else { Array(value.utf8) }
            let expected = [
                ReferencePart.formData(name: "v", content: sent),
                .formData(name: "f", filename: "v", type: "text/plain", content: Array(value.utf8)),
            ]
            #expect(try form.body().bytes() == ReferenceEncoder.encode(boundary: "B", expected))
        }
    }
}
