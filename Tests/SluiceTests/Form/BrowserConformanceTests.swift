import Sluice
import SluiceTestSupport
import Testing

/// The values of web-platform-tests' `html/semantics/forms/form-submission-0/multipart-formdata.window.js` and of
/// `FileAPI/file/send-file-form*.html`: what every browser sends.
///
/// Two of that file's 30 cases are about forms in windows-1252, which this engine does not write.
@Suite struct BrowserConformanceTests {
    /// One entry of a form, and what its part has between the delimiters.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let value: String
        let filename: String?
        let expected: String

        var testDescription: String { "\(name.debugDescription), \((filename ?? value).debugDescription)" }
    }

    /// A field's case: its name and value, and how both look on the wire.
    private static func field(_ name: String, _ value: String, _ wireName: String, _ wireValue: String) -> Case {
        let expected = "Content-Disposition: form-data; name=\"\(wireName)\"\r\n\r\n\(wireValue)"
        return Case(name: name, value: value, filename: nil, expected: expected)
    }

    /// A file's case.
    private static func file(_ filename: String, _ value: String, _ wireFilename: String) -> Case {
        let disposition = "Content-Disposition: form-data; name=\"a\"; filename=\"\(wireFilename)\"\r\n"
        return Case(
            name: "a",
            value: value,
            filename: filename,
            expected: disposition + "Content-Type: text/plain\r\n\r\n\(value)"
        )
    }

    static let cases: [Case] = [
        field("basic", "test", "basic", "test"),
        file("file-test.txt", "", "file-test.txt"),
        field("a\0b", "c", "a\0b", "c"),
        field("a", "b\0c", "a", "b\0c"),
        file("b\0c", "", "b\0c"),
        field("a\nb", "c", "a%0D%0Ab", "c"),
        field("a\rb", "c", "a%0D%0Ab", "c"),
        field("a\r\nb", "c", "a%0D%0Ab", "c"),
        field("a\n\rb", "c", "a%0D%0A%0D%0Ab", "c"),
        field("a", "b\nc", "a", "b\r\nc"),
        field("a", "b\rc", "a", "b\r\nc"),
        field("a", "b\r\nc", "a", "b\r\nc"),
        field("a", "b\n\rc", "a", "b\r\n\r\nc"),
        file("b\nc", "", "b%0Ac"),
        file("b\rc", "", "b%0Dc"),
        file("b\r\nc", "", "b%0D%0Ac"),
        file("b\n\rc", "", "b%0A%0Dc"),
        field("a\"b", "c", "a%22b", "c"),
        field("a", "b\"c", "a", "b\"c"),
        file("b\"c", "", "b%22c"),
        field("a'b", "c", "a'b", "c"),
        field("a", "b'c", "a", "b'c"),
        file("b'c", "", "b'c"),
        field("a\\b", "c", "a\\b", "c"),
        field("a", "b\\c", "a", "b\\c"),
        file("b\\c", "", "b\\c"),
        field("\u{E1}b", "\u{E7}", "\u{E1}b", "\u{E7}"),
        file("\u{259}.txt", "", "\u{259}.txt"),
    ]

    private func body(of entry: Case, _ escaping: NameEscaping) throws -> [UInt8] {
        var form = MultipartForm(boundary: try Boundary("B"), escaping: escaping)
        if let filename = entry.filename {
            let content = Array(entry.value.utf8)
            try form.addFile(name: entry.name, filename: filename, mimeType: "text/plain", data: content)
        } else {
            try form.addField(name: entry.name, value: entry.value)
        }
        return try form.body().bytes()
    }

    private func payload(_ content: String) -> [UInt8] {
        Array("--B\r\n\(content)\r\n--B--\r\n".utf8)
    }

    @Test(arguments: cases)
    func `The html escaping sends what browsers send`(entry: Case) throws {
        #expect(try body(of: entry, .html) == payload(entry.expected))
    }

    @Test(arguments: cases.filter { !($0.name + ($0.filename ?? "")).utf8.contains(0) })
    func `The percent escaping sends the same headers, and values as they are`(entry: Case) throws {
        let head = entry.expected.utf8.split(separator: 10, omittingEmptySubsequences: false)
        let isFile = entry.filename != nil
        let headers = head.prefix(isFile ? 3 : 2).map { String(decoding: $0, as: UTF8.self) + "\n" }.joined()
        #expect(try body(of: entry, .percent) == payload(headers + entry.value))
    }

    @Test(arguments: cases.filter { ($0.name + ($0.filename ?? "")).utf8.contains(0) })
    func `The percent escaping refuses a NUL in a name or filename`(entry: Case) throws {
        let error = try #require(throws: MultipartError.self) { try body(of: entry, .percent) }
        #expect(error.code == .invalidName)
        #expect(error.part?.index == 0)
    }

    @Test func `There are 28 cases`() {
        #expect(Self.cases.count == 28)
    }

    /// `FileAPI/file/send-file-form-punctuation.html`; the rule for all of them is that of the helper's expectation:
    /// `"`, CR and LF are percent-encoded in names and filenames, and nothing else is touched.
    static let punctuation = [
        "file-for-upload-in-form-QUOTE-[\"].txt", "file-for-upload-in-form-REVERSE-SOLIDUS-[\\].txt",
        "\"file-for-upload-in-form-double-quoted.txt\"", "file-for-upload-in-form-EXCLAMATION-MARK-[!].txt",
        "file-for-upload-in-form-DOLLAR-SIGN-[$].txt", "file-for-upload-in-form-PERCENT-SIGN-[%].txt",
        "file-for-upload-in-form-AMPERSAND-[&].txt", "file-for-upload-in-form-APOSTROPHE-['].txt",
        "file-for-upload-in-form-LEFT-PARENTHESIS-[(].txt", "file-for-upload-in-form-RIGHT-PARENTHESIS-[)].txt",
        "file-for-upload-in-form-ASTERISK-[*].txt", "file-for-upload-in-form-PLUS-SIGN-[+].txt",
        "file-for-upload-in-form-COMMA-[,].txt", "file-for-upload-in-form-FULL-STOP-[.].txt",
        "file-for-upload-in-form-SOLIDUS-[/].txt", "file-for-upload-in-form-COLON-[:].txt",
        "file-for-upload-in-form-SEMICOLON-[;].txt", "file-for-upload-in-form-EQUALS-SIGN-[=].txt",
        "file-for-upload-in-form-QUESTION-MARK-[?].txt", "file-for-upload-in-form-CIRCUMFLEX-ACCENT-[^].txt",
        "file-for-upload-in-form-LEFT-SQUARE-BRACKET-[[].txt", "file-for-upload-in-form-RIGHT-SQUARE-BRACKET-[]].txt",
        "file-for-upload-in-form-LEFT-CURLY-BRACKET-[{].txt", "file-for-upload-in-form-VERTICAL-LINE-[|].txt",
        "file-for-upload-in-form-RIGHT-CURLY-BRACKET-[}].txt", "file-for-upload-in-form-TILDE-[~].txt",
        "'file-for-upload-in-form-single-quoted.txt'",
    ]

    /// `send-file-formdata-controls.tentative.html` and `send-file-formdata-utf-8.html`.
    static let controlsAndUnicode = [
        "file-for-upload-in-form-LF-[\n].txt", "file-for-upload-in-form-LF-CR-[\n\r].txt",
        "file-for-upload-in-form-CR-[\r].txt", "file-for-upload-in-form-CR-LF-[\r\n].txt",
        "file-for-upload-in-form-HT-[\t].txt", "file-for-upload-in-form-FF-[\u{C}].txt",
        "file-for-upload-in-form-DEL-[\u{7F}].txt", "file-for-upload-in-form-ESC-[\u{1B}].txt",
        "file-for-upload-in-form-SPACE-[ ].txt", "file-for-upload-in-form.txt",
        "file-for-upload-in-form-\u{263A}\u{1F602}.txt",
        "file-for-upload-in-form-ABC~\u{203E}\u{A5}\u{2248}\u{A4}\u{FF65}"
            + "\u{30FB}\u{2022}\u{2219}\u{B7}\u{2606}\u{2605}\u{661F}\u{1F31F}XYZ.txt",
    ]

    @Test(arguments: punctuation + controlsAndUnicode, [NameEscaping.html, .percent])
    func `A file name goes through with only quotes, CR and LF encoded`(filename: String, escaping: NameEscaping) throws
    {
        let entry = Case(name: filename, value: "content\u{FFFD}", filename: filename, expected: "")
        let expected = ReferencePart.formData(
            name: filename,
            filename: filename,
            type: "text/plain",
            content: Array("content\u{FFFD}".utf8)
        )
        #expect(try body(of: entry, escaping) == ReferenceEncoder.encode(boundary: "B", [expected]))
    }

    @Test(arguments: [NameEscaping.html, .percent])
    func `Only the punctuation names with quotes in them change`(escaping: NameEscaping) throws {
        for filename in Self.punctuation {
            let value = try ContentDisposition.formData(name: "n", filename: filename).headerValue(escaping)
            let changed = value != "form-data; name=\"n\"; filename=\"\(filename)\""
            #expect(changed == filename.contains("\""))
        }
    }

    @Test func `An empty file entry has an empty filename and a type`() throws {
        // html/semantics/forms/form-submission-0/form-data-set-empty-file.window.js
        var form = MultipartForm(boundary: try Boundary("B"), escaping: .html)
        try form.addFile(name: "file", filename: "", data: [])
        #expect(
            try form.body().text()
                == "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"\"\r\n"
                + "Content-Type: application/octet-stream\r\n\r\n\r\n--B--\r\n"
        )
    }
}
