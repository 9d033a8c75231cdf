import Sluice
import SluiceTestSupport
import Testing

/// What the headers of a part say, and which are refused.
@Suite struct PartHeaderTests {
    private static func body(_ headers: String) -> [UInt8] { Array("--b\r\n\(headers)\r\n\r\nv\r\n--b--".utf8) }

    private static func headers(
        _ lines: [UInt8],
        _ subtype: MultipartForm.Subtype = .formData,
        _ policies: ParserPolicies? = nil
    ) throws -> PartHeaders {
        let bytes = Array("--b\r\n".utf8) + lines + Array("\r\n\r\n\r\n--b--".utf8)
        let type = MultipartContentType(subtype: subtype, boundary: try Boundary("b"))
        let limits = ParserLimits(fileBytes: 100, totalBytes: 100_000)
        return try #require(ParsedPart.parts(of: bytes, type, limits: limits, policies: policies).first).headers
    }

    private static func disposition(_ parameters: String, _ policies: ParserPolicies? = nil) throws -> PartHeaders {
        try headers(Array("Content-Disposition: form-data\(parameters)".utf8), policies: policies)
    }

    private static func headers(_ lines: [UInt8], policies: ParserPolicies?) throws -> PartHeaders {
        try headers(lines, .formData, policies)
    }

    @Test(arguments: [1, 7, 1000])
    func `Headers stay what they are while the parser goes on, whichever are kept`(chunk: Int) throws {
        let names = (0..<100).map { String(repeating: "n", count: 1 + $0 * 37 % 90) + "\($0)" }
        let text = names.map {
            "--b\r\nContent-Disposition: form-data; name=\"\($0)\"\r\nContent-Type: a/b\r\n\r\nv\r\n"
        }
        let bytes = Array((text.joined() + "--b--").utf8)
        for seed in seeds(fixed: 5, fresh: 5) {
            var random = SeededGenerator(seed: seed)
            var kept: [PartHeaders] = []
            var parser = MultipartParser(
                MultipartContentType(boundary: try Boundary("b")),
                limits: ParserLimits(fileBytes: 100, totalBytes: 100_000)
            )
            for start in stride(from: 0, to: bytes.count, by: chunk) {
                let piece = bytes[start..<min(start + chunk, bytes.count)]
                while let event = unsafe try parser.next(in: piece.span.bytes) {
                    guard case .partBegan(let headers) = event else { continue }
                    #expect(headers.name == names[headers.index], "seed \(seed)")
                    if Bool.random(using: &random) { kept.append(headers) }
                    if Int.random(in: 0..<5, using: &random) == 0 { kept.shuffle(using: &random) }
                    if Int.random(in: 0..<5, using: &random) == 0 { _ = kept.popLast() }
                }
            }
            for headers in kept {
                #expect(headers.name == names[headers.index] && headers.contentType == "a/b", "seed \(seed)")
                #expect(headers.fields.count == 2, "seed \(seed)")
            }
        }
    }

    // MARK: Names

    @Test(arguments: [
        (#"; name="a""#, "a"), (#"; name=a"#, "a"), (#";name="a""#, "a"), (#" ; NAME="a" "#, "a"), (#"; name="""#, ""),
        (#"; name="a;b=c""#, "a;b=c"), (#"; name="a'b""#, "a'b"), (#"; name="a%22b""#, "a%22b"),
        (#"; name="a\"b""#, #"a"b"#), (#"; name="a\b""#, #"a\b"#), (#"; name="a\\b""#, #"a\\b"#),
        (#"; name="a\\""#, #"a\\"#),
        (#"; name="é"; x=y"#, "é"), (#"; x="\""; name=a"#, "a"), (#";; name=a;"#, "a"),
        ("; name=\"\t\u{1B}\"", "\t\u{1B}"),
        (#"; name="__proto__""#, "__proto__"), (#"; xname=b; name="a""#, "a"), (#"; name*=UTF-8''b; name=a"#, "a"),
    ])
    func `A name is what is in the quotes, or a token`(parameters: String, name: String) throws {
        let headers = try Self.disposition(parameters)
        #expect(headers.name == name && headers.filename == nil && !headers.isFile)
        #expect(headers.contentDisposition?.kind == "form-data")
    }

    @Test(arguments: [
        ("a%22b", "a\"b"), ("%0D%0A", "\r\n"), ("%0d%0a", "\r\n"), ("%41%", "%41%"), (#"a\"#, #"a\"#), ("%2", "%2"),
        ("%%22", "%\""),
    ])
    func `What browsers encode is decoded where that is the policy`(encoded: String, name: String) throws {
        var policies = ParserPolicies()
        policies.nameDecoding = .percent
        #expect(try Self.disposition("; name=\"\(encoded)\"; filename=\"\(encoded)\"", policies).name == name)
        #expect(try Self.disposition("; name=\"\(encoded)\"; filename=\"\(encoded)\"", policies).filename == name)
    }

    @Test(arguments: [(#"a\\b"#, #"a\b"#), (#"\"a\""#, #""a""#), (#"a\bc"#, "abc"), (#"\\"#, #"\"#)])
    func `Quoted pairs are undone where that is the policy`(encoded: String, name: String) throws {
        var policies = ParserPolicies()
        policies.nameDecoding = .backslash
        #expect(try Self.disposition("; name=\"\(encoded)\"", policies).name == name)
    }

    @Test func `Names that are not UTF-8 come as bytes, and repaired`() throws {
        let line =
            Array("Content-Disposition: form-data; name=\"a".utf8) + [0xFF, 0xE4] + Array("\"; filename=\"".utf8)
        let headers = try Self.headers(line + [0xC3, 0x28, 0x22])
        #expect(headers.nameBytes == [0x61, 0xFF, 0xE4] && headers.name == "a\u{FFFD}\u{FFFD}")
        #expect(headers.filenameBytes == [0xC3, 0x28] && headers.filename == "\u{FFFD}(")
    }

    @Test func `An empty filename is not an absent one`() throws {
        #expect(try Self.disposition("; name=a").filename == nil)
        let empty = try Self.disposition("; name=a; filename=\"\"")
        #expect(empty.filename == "" && empty.isFile && empty.sanitizedFilename == "unnamed")
    }

    @Test(arguments: [
        ("UTF-8''%E2%82%AC.txt", "\u{20AC}.txt"), ("utf-8'en'a", "a"), ("iso-8859-1''%E9", "\u{E9}"), ("UTF-8''", ""),
        ("UTF-8''%", "b"), ("UTF-8''%zz", "b"), ("UTF-8''%E2", "b"), ("koi8-r''a", "b"), ("UTF-8'a", "b"), ("x", "b"),
    ])
    func `filename* is ignored, or by policy taken where it can be decoded`(value: String, preferred: String) throws {
        for parameters in ["; name=n; filename=b; filename*=\(value)", "; name=n; filename*=\(value); filename=b"] {
            #expect(try Self.disposition(parameters).filename == "b")
            var policies = ParserPolicies()
            policies.extendedFilename = .prefer
            #expect(try Self.disposition(parameters, policies).filename == preferred)
        }
        #expect(try Self.disposition("; name=n; filename*=\(value)").isFile == false)
    }

    @Test func `RFC 2231's continuations are parameters like others`() throws {
        let headers = try Self.disposition("; name=n; filename*0=\"a\"; filename*1*=b; filename*0*=UTF-8''c")
        #expect(headers.filename == nil && !headers.isFile)
    }

    // MARK: What is refused

    @Test(arguments: [
        "; name=\"a", "; name=\"a\\\"", "; name=a b", "; name=a\"", "; name = a", "; name= a", "; name =a", "; name",
        "; =a", "name=a",
        "; name=\"a\"b", "; name=\"a\" b", "; name=", "; name=[a]", "; name=é", ", name=a", "; name=a; name=b",
        "; name=a; NAME=a", "; name=a; filename=b; Filename=b", "; name=a; x=1; X=2",
        "; name=a; filename*=b; filename*=b",
    ])
    func `A disposition that can be read in two ways is refused`(parameters: String) throws {
        for subtype in [MultipartForm.Subtype.formData, .mixed] {
            let bytes = Self.body("Content-Disposition: form-data\(parameters)")
            let (log, difference) = try ParserRun("b", subtype).parseInAllSplits(bytes)
            #expect(difference == nil)
            #expect(log.code == .invalidHeader && log.parts.isEmpty)
            #expect(log.errorOffset ?? 0 >= 5 + 21)
        }
    }

    @Test(arguments: [
        "X-A b", ": b", "X-A : b", " X-A: b", "\tX-A: b", "X A: b", "X-\u{E9}: b", "X-A: a\0b", "X-A: a\rb", "X-A\0: b",
        "--b", "X(: b",
        "Content-Disposition: form-data; name=m", "X-A: a\nb", "Content-Type: a/b\r\ncontent-type: a/b", "X-A",
        "X-A: b\r\r", "\0", "Content-Disposition: ", "Content-Disposition:", "Content-Disposition: \"a\"",
    ])
    func `Header lines that can be read in two ways are refused`(line: String) throws {
        let first = "Content-Disposition: form-data; name=n\r\n"
        for subtype in [MultipartForm.Subtype.formData, .mixed] {
            let (log, difference) = try ParserRun("b", subtype).parseInAllSplits(Self.body(first + line))
            #expect(difference == nil)
            #expect(log.code == .invalidHeader && log.parts.isEmpty)
            let offset = log.errorOffset ?? 0
            #expect(offset >= 5 + Int64(first.utf8.count) && offset <= 5 + Int64((first + line).utf8.count))
        }
    }

    @Test(arguments: [
        "X-A: b", "Content-Disposition: form-data", "Content-Disposition: form-data; filename=a",
        "Content-Disposition: attachment; name=a", "Content-Disposition: form-data; name*=UTF-8''a",
    ])
    func `A form's part without a name is refused, and in other multiparts it is not`(line: String) throws {
        let form = try ParserRun().parseInAllSplits(Self.body(line))
        #expect(form.difference == nil)
        #expect(form.log.code == .missingName && form.log.errorOffset == 5)
        let mixed = try ParserRun("b", .mixed).parseInAllSplits(Self.body(line))
        #expect(mixed.difference == nil && mixed.log.failure == nil && mixed.log.texts == ["v"])
    }

    @Test func `A part without any header is one of other multiparts only`() throws {
        let bytes = Array("--b\r\n\r\nv\r\n--b--".utf8)
        #expect(try ParserRun().parse(bytes).code == .missingName)
        let log = try ParserRun("b", .mixed).parse(bytes)
        #expect(log.texts == ["v"] && log.parts[0].headers.isEmpty && log.parts[0].contentOffset == 7)
        var policies = ParserPolicies()
        policies.requiresFormData = false
        #expect(try ParserRun(policies: policies).parse(bytes).texts == ["v"])
    }

    // MARK: Other fields

    @Test func `Fields are as they came, in their order`() throws {
        let lines = "X-A:b\r\nx-a:  \tc \t\r\nContent-Type: text/plain; charset=utf-8\r\nX-Empty:\r\nX-Raw: \u{E9};\"\\"
        let headers = try Self.headers(Array(lines.utf8), .mixed)
        #expect(headers.fields.map(\.name) == ["X-A", "x-a", "Content-Type", "X-Empty", "X-Raw"])
        #expect(headers.fields.map(\.value) == ["b", "c", "text/plain; charset=utf-8", "", "\u{E9};\"\\"])
        #expect(headers["X-a"] == "b" && headers["x-empty"] == "" && headers["X-None"] == nil)
        #expect(headers.contentType == "text/plain; charset=utf-8" && headers.contentDisposition == nil)
        #expect(headers.valueBytes(of: "x-raw").map(Array.init) == Array("\u{E9};\"\\".utf8))
        #expect(headers.isMultipart == false && headers.index == 0)
    }

    @Test(arguments: ["-1", "0", "1000000", "9223372036854775808", "x"])
    func `A part's own Content-Length is not believed`(length: String) throws {
        let lines = "Content-Disposition: form-data; name=n\r\nContent-Length: \(length)"
        let (log, difference) = try ParserRun().parseInAllSplits(Self.body(lines))
        #expect(difference == nil && log.failure == nil && log.texts == ["v"])
    }

    @Test(arguments: [
        "Content-Transfer-Encoding: base64", "Content-Transfer-Encoding: quoted-printable",
        "Content-Transfer-Encoding: x-unknown", "Content-Encoding: gzip",
    ])
    func `Encodings are not undone unasked`(line: String) throws {
        let bytes = Self.body("Content-Disposition: form-data; name=n\r\n\(line)")
        #expect(try ParserRun().parse(bytes).texts == ["v"])
    }

    // MARK: Long values

    @Test(
        arguments: [
            (String(repeating: "\\\"", count: 4000), nil), (String(repeating: ";", count: 8000), nil),
            (String(repeating: "=", count: 8000), nil), (String(repeating: " ", count: 8000), nil),
            (String(repeating: "\\", count: 8000), nil),
        ] as [(String, MultipartError.Code?)]
    )
    func `Long quoted values are one pass`(value: String, code: MultipartError.Code?) throws {
        let headers = try Self.disposition("; name=\"\(value)\"")
        #expect(headers.name == value.replacing("\\\"", with: "\""))
        let open = try ParserRun().parse(Self.body("Content-Disposition: form-data; name=\"\(value)"))
        #expect(open.code == .invalidHeader)
    }

    @Test(arguments: [
        (String(repeating: ";", count: 8000), MultipartError.Code.tooManyParameters),
        (String(repeating: "; a=b", count: 1600), .invalidHeader),
        ((0..<900).map { "; a\($0)=b" }.joined(), .tooManyParameters),
        (String(repeating: "=", count: 8000), .invalidHeader),
        ("; " + String(repeating: "a", count: 8000), .invalidHeader),
        (String(repeating: " ", count: 8000), .missingName),
    ])
    func `Long parameter lists end at their limit`(value: String, code: MultipartError.Code) throws {
        let (log, difference) = try ParserRun().parseInAllSplits(Self.body("Content-Disposition: form-data\(value)"))
        #expect(difference == nil && log.code == code)
    }
}
