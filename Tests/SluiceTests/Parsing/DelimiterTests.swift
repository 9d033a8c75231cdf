import Sluice
import SluiceTestSupport
import Testing

/// What is a delimiter and what is content, wherever the chunks end.
@Suite struct DelimiterTests {
    /// Boundaries of every length class: the needle's five bytes, fewer than eight behind the line break, the longest.
    static let boundaries = [
        "x", "ab", "abc", "abcd", "-", "--", "boundary-01234", "boundary-012345", "'()+_,-./:=?", "a b",
        "----WebKitFormBoundary7MA4YWxkTrZu0gW",
        String(repeating: "a", count: 69), String(repeating: "-", count: 70),
    ]

    private static func body(_ contents: [[UInt8]], _ boundary: String) -> [UInt8] {
        ReferenceEncoder.encode(
            boundary: boundary,
            contents.map { .formData(name: "n", filename: "f", type: nil, content: $0) }
        )
    }

    /// Contents that are nearly a delimiter.
    private static func nearMisses(_ boundary: String) -> [[UInt8]] {
        let delimiter = Array("\r\n--\(boundary)".utf8)
        // All places of the short ones, and of the long ones one in seven.
        let places = delimiter.indices.filter { $0 < 10 || $0.isMultiple(of: 7) || $0 > delimiter.count - 3 }
        let flipped = places.map { index in
            var copy = delimiter
            copy[index] ^= 1
            return copy
        }
        let prefixes = places.map { Array(delimiter[..<$0]) }
        let texts = [
            "\r\r\n--", "\r\n\r\n--", "\r\n-\r\n--", "\n--\(boundary)", "\r--\(boundary)", "x--\(boundary)", "\r\n -",
        ]
        return flipped + prefixes + texts.map { Array($0.utf8) }
            + [Array(delimiter.dropLast()) + delimiter.dropLast(), prefixes.flatMap { $0 } + [0]]
    }

    @Test(arguments: boundaries)
    func `What is nearly a delimiter is content, and what is one ends it`(boundary: String) throws {
        let run = try ParserRun(boundary)
        for content in Self.nearMisses(boundary) {
            let (log, difference) = run.parseInAllSplits(Self.body([content, content], boundary))
            #expect(difference == nil)
            #expect(log.failure == nil)
            #expect(log.parts.map(\.content) == [content, content])
        }
    }

    @Test(arguments: boundaries)
    func `The search finds what a search byte for byte finds`(boundary: String) throws {
        // Of few different bytes, so that beginnings of the delimiter are everywhere.
        let delimiter = Array("\r\n--\(boundary)".utf8)
        for seed in seeds(fixed: 20, fresh: 20) {
            var random = SeededGenerator(seed: seed)
            var content: [UInt8] = []
            for _ in 0..<200 {
                content += delimiter[..<Int.random(in: 0..<delimiter.count, using: &random)]
                if Bool.random(using: &random) { content.append(delimiter.randomElement(using: &random) ?? 0) }
            }
            // What the pieces make up by chance is taken out, by a search that is as plain as can be.
            while let found = content.indices.first(where: { content[$0...].starts(with: delimiter) }) {
                content[found] = 0x58
            }
            let bytes = Self.body([content], boundary)
            let run = try ParserRun(boundary)
            let whole = run.parse(bytes)
            #expect(whole.parts.map(\.content) == [content], "seed \(seed)")
            for _ in 0..<3 { #expect(run.parse(Split.atRandom(bytes, &random)) == whole, "seed \(seed)") }
        }
    }

    @Test(arguments: [1, 4, 14, 15, 16, 31, 40, 70], [ParserPolicies.LineEnds.crlf, .lenient])
    func `A delimiter is found wherever it begins`(count: Int, lineEnds: ParserPolicies.LineEnds) throws {
        let alphabet = Array("0123456789abcdefghijklmnopqrstuvwxyz".utf8)
        let boundary = String(decoding: (0..<count).map { alphabet[$0 * 7 % 36] }, as: UTF8.self)
        var run = try ParserRun(boundary)
        run.policies.lineEnds = lineEnds
        // Of bytes that no boundary has, and of the boundary's own.
        for filling in [Array("~!".utf8), Array(boundary.utf8.prefix(4)), Array(boundary.utf8)] {
            let filling = (0..<400).map { filling[$0 % filling.count] }
            for length in 0...360 {
                let content = Array(filling[..<length])
                let log = run.parse(Self.body([content, []], boundary))
                #expect(log.failure == nil && log.parts.map(\.content) == [content, []], "\(length) bytes")
            }
        }
    }

    @Test func `A content may begin with the delimiter's second line break left out`() throws {
        // RFC 2046 section 5.1.1: body-part := MIME-part-headers [CRLF *OCTET], and the delimiter begins with CRLF.
        let text =
            "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n--b\r\nContent-Disposition: form-data; name=c\r\n\r\n--b--"
        let (log, difference) = try ParserRun().parseInAllSplits(Array(text.utf8))
        #expect(difference == nil && log.failure == nil)
        #expect(log.parts.map(\.name) == ["a", "c"] && log.texts == ["", ""])
    }

    // MARK: What follows a boundary

    private static let head = "--b\r\nContent-Disposition: form-data; name=n\r\n\r\nv\r\n--b"

    @Test(arguments: [
        "X", "-", "-X", "--X", "-- X", "\n", "\r", "\rX", " X", "\t-", "--\r", "--\rX", "--\n", "\0", " \r\r\n",
    ])
    func `A delimiter that goes on is an error at the byte that does`(suffix: String) throws {
        let text = Self.head + suffix + "\r\n"
        let (log, difference) = try ParserRun().parseInAllSplits(Array(text.utf8))
        #expect(difference == nil)
        #expect(log.code == .invalidDelimiter && !log.hasEnd)
        let wrong = suffix.utf8.first.map { _ in Self.firstWrong(Array((suffix + "\r\n").utf8)) } ?? 0
        #expect(log.errorOffset == Int64(Self.head.utf8.count + wrong))
        // The part is not complete: its delimiter is none.
        #expect(log.parts.map(\.isEnded) == [false])
    }

    /// How many bytes can be read as `[--] *LWSP CRLF`, by the shortest way to say it.
    private static func firstWrong(_ bytes: [UInt8]) -> Int {
        var index = 0
        if bytes.starts(with: [0x2D, 0x2D]) { index = 2 } else if bytes[0] == 0x2D { return 1 }
        while bytes[index] == 0x20 || bytes[index] == 0x09 { index += 1 }
        return bytes[index] == 0x0D ? index + 1 : index
    }

    @Test(arguments: [
        "X", "-", "-X", "--X", "-- X", "\n", "\r", "\rX", " X", "\t-", "--\rX", "--\n", " \r\r\n", "-outer--",
    ])
    func `Where that is the policy, a delimiter that goes on is content`(suffix: String) throws {
        var policies = ParserPolicies()
        policies.delimiterSuffix = .data
        let text = Self.head + suffix + "\r\n--b--\r\n"
        let (log, difference) = try ParserRun(policies: policies).parseInAllSplits(Array(text.utf8))
        #expect(difference == nil)
        #expect(log.failure == nil && log.hasEnd)
        #expect(log.texts == ["v\r\n--b\(suffix)"])
    }

    @Test(
        arguments: [("", nil), (" ", nil), ("\t \t", nil), ("256", nil), ("257", 256), ("1000000", 256)]
            as [(String, Int?)]
    )
    func `Padding behind a delimiter is passed over, up to a limit`(padding: String, wrong: Int?) throws {
        let padding = Int(padding).map { String(repeating: " ", count: $0) } ?? padding
        for close in ["", "--"] {
            let end = close.isEmpty ? "Content-Disposition: form-data; name=o\r\n\r\n\r\n--b--" : ""
            let bytes = Array((Self.head + close + padding + "\r\n" + end).utf8)
            let (log, difference) = try ParserRun().parseInAllSplits(bytes)
            #expect(difference == nil)
            #expect(log.code == (wrong == nil ? nil : .paddingTooLong))
            #expect(log.errorOffset == wrong.map { Int64(Self.head.utf8.count + close.utf8.count + $0) })
        }
    }

    @Test func `More padding than the limit is content, where a delimiter that goes on is`() throws {
        var run = try ParserRun()
        run.policies.delimiterSuffix = .data
        run.limits.paddingBytes = 3
        let (log, difference) = run.parseInAllSplits(Array("\(Self.head)    \r\n--b   \r\n\r\n".utf8))
        #expect(difference == nil)
        #expect(log.texts == ["v\r\n--b    "] && log.parts[0].isEnded)
    }

    // MARK: Line ends

    @Test func `Lines that end in LF alone are an error, or by policy as good as others`() throws {
        let text =
            "--b\nContent-Disposition: form-data; name=a\n\n1\r\n2\n--b\r\nContent-Disposition: form-data; name=c\r\n\r\n"
            + "3\r\n--b\nContent-Disposition: form-data; name=e\n\n\n--b--\n"
        let strict = try ParserRun().parseInAllSplits(Array(text.utf8))
        #expect(strict.difference == nil && strict.log.code == .invalidDelimiter && strict.log.errorOffset == 3)

        var policies = ParserPolicies()
        policies.lineEnds = .lenient
        let (log, difference) = try ParserRun(policies: policies).parseInAllSplits(Array(text.utf8))
        #expect(difference == nil && log.failure == nil && log.hasEnd)
        #expect(log.parts.map(\.name) == ["a", "c", "e"])
        #expect(log.texts == ["1\r\n2", "3", ""])
    }

    @Test(arguments: ["\r", "\n", "\r\r", "\n\r", "\r\n", "\n\n", "\n-", "\r\n--", "\n--c", "\r\r\n--bX"])
    func `With both line ends, near misses are content still`(content: String) throws {
        var policies = ParserPolicies()
        policies.lineEnds = .lenient
        policies.delimiterSuffix = .data
        let text =
            "--b\nContent-Disposition: form-data; name=a\n\n\(content)\n--b\nContent-Disposition: form-data; name=a\n\n"
            + "\(content)x\r\n--b--"
        let (log, difference) = try ParserRun(policies: policies).parseInAllSplits(Array(text.utf8))
        #expect(difference == nil && log.failure == nil && log.hasEnd)
        // A CR right before the LF belongs to the line break.
        let first = content.utf8.last == 0x0D ? String(decoding: content.utf8.dropLast(), as: UTF8.self) : content
        #expect(log.texts == [first, content + "x"])
    }

    // MARK: What comes before and behind the parts

    @Test(arguments: ["", "\r\n"])
    func `An empty line may come first`(start: String) throws {
        let (log, difference) = try ParserRun().parseInAllSplits(Array("\(start)--b--\r\n".utf8))
        #expect(difference == nil && log.failure == nil && log.hasEnd && log.parts.isEmpty)
    }

    @Test(arguments: [
        ("x", 0), ("\r\n\r\n", 2), ("\n", 0), (" ", 0), ("\r", 1), ("-", 2), ("\r\nx\r\n", 2), ("--B\r\n", 2),
    ])
    func `Anything else before the first delimiter is an error in form-data`(start: String, offset: Int) throws {
        let (log, difference) = try ParserRun().parseInAllSplits(Array("\(start)--b--\r\n".utf8))
        #expect(difference == nil)
        #expect(log.code == .unexpectedPreamble && log.errorOffset == Int64(offset))
    }

    @Test(arguments: [MultipartForm.Subtype.mixed, .related, .alternative, .byteranges])
    func `Other subtypes have a preamble that is passed over`(subtype: MultipartForm.Subtype) throws {
        for start in ["", "\r\n", "This is a message in MIME format.\r\n", "x\r\n--\r\n--a\r\n", "x--b\r\n\r\n"] {
            let text = "\(start)--b\r\nContent-Type: text/plain\r\n\r\nv\r\n--b\r\n\r\nno headers\r\n--b--"
            let (log, difference) = try ParserRun("b", subtype).parseInAllSplits(Array(text.utf8))
            #expect(difference == nil && log.failure == nil && log.hasEnd)
            #expect(log.texts == ["v", "no headers"])
        }
    }

    @Test func `Whatever follows the close delimiter is passed over, in no memory`() throws {
        let text = "--b\r\nContent-Disposition: form-data; name=n\r\n\r\nv\r\n--b--\r\n"
        var chunks = [Array(text.utf8)[...]]
        let epilogue = Array("--b\r\n\r\n\r\n--b--\r\n\0".utf8)
        for _ in 0..<10_000 { chunks.append(epilogue[...]) }
        let run = try ParserRun(limits: ParserLimits(fileBytes: 1, totalBytes: Int64(text.utf8.count)))
        let (log, cost) = run.parseCounting(chunks)
        #expect(log.failure == nil && log.texts == ["v"] && log.endOffset == Int64(text.utf8.count))
        #expect(cost.retained <= 5 && cost.work <= 2 * text.utf8.count)
    }
}
