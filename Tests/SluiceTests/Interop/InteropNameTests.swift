import Sluice
import SluiceTestSupport
import Testing

/// Names and filenames as aiohttp, werkzeug and Python's email package read them.
@Suite(.timeLimit(.minutes(5))) struct InteropNameTests {
    private typealias Parser = ForeignParsers.Parser

    private func form(_ names: [String], _ escaping: NameEscaping = .percent) throws -> MultipartForm {
        var form = MultipartForm(escaping: escaping)
        for (number, name) in names.enumerated() {
            try form.addField(name: name, value: "field \(number)")
            try form.append(.file(name, bytes: Array("file \(number)".utf8), filename: name, mediaType: .octetStream))
        }
        return form
    }

    /// The fields and files of ``form(_:_:)``, in turn.
    private func parts(_ form: MultipartForm) async throws -> [Parser: [ForeignPart]] {
        let outcomes = try #require(await ForeignParsers.parse([form.body()]).first)
        return outcomes.compactMapValues(\.parts)
    }

    private func expectContents(_ parts: [ForeignPart], _ count: Int) async throws {
        let contents = (0..<count).flatMap { ["field \($0)", "file \($0)"] }.map { Array($0.utf8) }
        #expect(try await parts.map(\.sha256) == ForeignParsers.sha256(of: contents))
        #expect(parts.map(\.contentType) == (0..<count).flatMap { _ in [nil, "application/octet-stream"] })
    }

    @Test func `Names that need no escapes are read as they are by all three`() async throws {
        let names = [
            "a", "with space", "\u{E9}", "e\u{301}", "\u{65E5}\u{672C}\u{8A9E}", "\u{1F4A9}", "\u{202E}gpj.exe", "a'b",
            "a=b", "a,b",
            "(a)", "[a]", "{a}", "<a>", "a@b", "a&b=c", "100%", "%", "a:b", "a?b#c", "*", "~", "a;b", "a.txt",
            "UTF-8''a", "\u{FEFF}a",
            String(repeating: "long ", count: 2000) + "end",
        ]
        let parts = try await parts(form(names))
        for parser in Parser.allCases {
            let parts = try #require(parts[parser], "\(parser)")
            #expect(parts.map(\.name) == names.flatMap { [$0, $0] }, "\(parser)")
            #expect(parts.map(\.filename) == names.flatMap { [nil, $0] }, "\(parser)")
            try await expectContents(parts, names.count)
        }
    }

    @Test func `Empty names and filenames are there and empty`() async throws {
        for (parser, parts) in try await parts(form([""])) {
            #expect(parts.map(\.name) == ["", ""] && parts.map(\.filename) == [nil, ""], "\(parser)")
        }
    }

    /// Names with what has to be escaped, or what some parser takes for an escape.
    ///
    /// No parser here undoes `%0D` and `%0A`, only werkzeug undoes `%22`, and each treats backslashes in its own way; so
    /// what is compared is the header as the parser got it, one part a name, and nothing lost of the rest.
    static let awkward = [
        "a\"b", "\"a\"", "a\r\nb", "a\nb", "a\rb", "\r\n--x", "a\"; filename=\"injected", "a\r\nX-Injected: yes",
        "a\r\n\r\ninjected", "C:\\dir\\file", "\\", "\\\"", "a\\\\b", "a;b;c", "/etc/passwd", "../up", "%22",
        "a%0D%0Ab",
    ]

    @Test func `A name that has to be escaped is one name of one part to all three`() async throws {
        // Alone in its form, because to aiohttp a part without a name it understands may end the form.
        let bodies = try Self.awkward.map { try form([$0]).body() }
        for (name, outcomes) in try await zip(Self.awkward, ForeignParsers.parse(bodies)) {
            let expected = [value(name, nil), value(name, ReferenceEncoder.escapedFilename(name))]
            for (parser, outcome) in outcomes {
                let parts = try #require(outcome.parts, "\(parser), \(name)")
                #expect(parts.map(\.rawDisposition) == expected, "\(parser)")
                #expect(parts.map(\.headers.count) == [1, 2], "\(parser), \(name)")
                #expect(parts.map(\.size) == ["field 0".utf8.count, "file 0".utf8.count], "\(parser), \(name)")
            }
        }
    }

    private func value(_ name: String, _ filename: [UInt8]?) -> String {
        let quote = Array("\"".utf8)
        let head = Array("form-data; name=\"".utf8) + ReferenceEncoder.escapedName(name) + quote
        let tail = filename.map { Array("; filename=\"".utf8) + $0 + quote } ?? []
        return String(decoding: head + tail, as: UTF8.self)
    }

    @Test func `What werkzeug undoes of the percent form is what was meant`() async throws {
        let names = ["a\"b", "\"", "\"\"quoted\"\""]
        let parts = try #require(await parts(form(names))[.werkzeug])
        #expect(parts.map(\.name) == names.flatMap { [$0, $0] })
        #expect(parts.map(\.filename) == names.flatMap { [nil, $0] })
    }

    @Test func `What browsers cannot say, quotes and backslashes, the backslash form says to all three`() async throws {
        // None ends in a backslash: email looks for the end of the quotes before it looks at what is escaped.
        let names = ["a\"b", "\"a\"", "a\\b", "\\\\server\\share", "a\\\"b", "plain", "\u{E9}\"\u{1F4A9}\\x"]
        let parts = try await parts(form(names, .backslash))
        for parser in Parser.allCases {
            let parts = try #require(parts[parser], "\(parser)")
            // aiohttp drops backslashes that a name begins with.
            let kept = names.map { parser == .aiohttp ? String($0.drop { $0 == "\\" }) : $0 }
            #expect(parts.map(\.name) == kept.flatMap { [$0, $0] }, "\(parser)")
            #expect(parts.map(\.filename) == kept.flatMap { [nil, $0] }, "\(parser)")
            try await expectContents(parts, names.count)
        }
    }

    @Test func `Control characters reach whoever takes them`() async throws {
        // aiohttp refuses the whole body for them, and to email some are line ends: RFC 9110 section 5.5 allows both.
        let names = ["\u{1}", "a\u{7F}b", "tab\tbed", "\u{1B}[31m"]
        let parts = try #require(await parts(form(names))[.werkzeug])
        #expect(parts.map(\.name) == names.flatMap { [$0, $0] })
        try await expectContents(parts, names.count)
    }

    @Test func `A NUL that only the html form sends reaches whoever takes it`() async throws {
        let names = ["a\0b"]
        let parts = try #require(await parts(form(names, .html))[.werkzeug])
        #expect(parts.map(\.name) == ["a\0b", "a\0b"])
    }
}
