import Sluice
import SluiceTestSupport
import Testing

/// What only looks like a delimiter is content, byte for byte, whatever line break it began with and wherever that was.
@Suite struct FalseDelimiterTests {
    /// Contents in which the boundary `b` is followed by something that no delimiter has.
    static let contents = [
        "--bX", "--b-", "--b-X", "--b--X", "--b X", "--b\rX", "--b--\rX", "\n--bX", "x\n--bX", "\r\n--bX", "x\r\n--bX",
        "\r\r\n--bX", "\n\n--bX", "\n\r\n--bX", "--bX\n--bX\r\n--bX", "--bX--bX", "\r\n--b-\r\n--b-", "\n--b-\n--b-",
        "--b-\n", "--b\t\tX\n", "\n--b\r\r\n--bX",
    ]

    private static func run(
        _ lineEnds: ParserPolicies.LineEnds,
        _ subtype: MultipartForm.Subtype = .formData
    ) throws -> ParserRun {
        var policies = ParserPolicies(for: subtype)
        policies.delimiterSuffix = .data
        policies.lineEnds = lineEnds
        return try ParserRun("b", subtype, policies: policies)
    }

    private static func head(_ name: String) -> String { "--b\r\nContent-Disposition: form-data; name=\(name)\r\n\r\n" }

    /// Two parts: the content, and one behind it whose place shows whether all bytes were counted.
    private static func body(_ content: String) -> String { "\(head("a"))\(content)\r\n\(head("c"))v\r\n--b--\r\n" }

    @Test(arguments: contents, [ParserPolicies.LineEnds.crlf, .lenient])
    func `A content comes out as it went in`(content: String, lineEnds: ParserPolicies.LineEnds) throws {
        let text = Self.body(content)
        let run = try Self.run(lineEnds)
        let (log, difference) = run.parseInAllSplits(Array(text.utf8))
        #expect(difference == nil && log.failure == nil && log.hasEnd)
        #expect(log.texts == [content, "v"])
        #expect(log.parts.map(\.contentOffset) == Self.offsets(content))
        #expect(log.endOffset == Int64(text.utf8.count))

        let parts = try ParsedPart.parts(
            of: Array(text.utf8),
            run.contentType,
            limits: run.limits,
            policies: run.policies
        )
        #expect(parts.map { String(decoding: $0.content, as: UTF8.self) } == [content, "v"])
        #expect(parts.map(\.content.startIndex) == Self.offsets(content).map(Int.init))
    }

    private static func offsets(_ content: String) -> [Int64] {
        let first = head("a").utf8.count
        return [Int64(first), Int64(first + content.utf8.count + 2 + head("c").utf8.count)]
    }

    @Test(arguments: contents, [ParserPolicies.LineEnds.crlf, .lenient])
    func `A reader gives it in slices that are the content`(
        content: String,
        lineEnds: ParserPolicies.LineEnds
    ) async throws {
        let run = try Self.run(lineEnds)
        for size in [1, 2, 5, 1000] {
            let reader = MultipartReader(
                Upstream().chunks(chunked(Array(Self.body(content).utf8), [size])),
                run.contentType,
                limits: run.limits,
                policies: run.policies
            )
            var texts: [String] = []
            for try await part in reader { texts.append(try await part.text(upTo: 100)) }
            #expect(texts == [content, "v"])
        }
    }

    @Test(arguments: contents, [ParserPolicies.LineEnds.crlf, .lenient])
    func `A limit holds for just the content's bytes, and is passed at the byte that is one too many`(
        content: String,
        lineEnds: ParserPolicies.LineEnds
    ) throws {
        var run = try Self.run(lineEnds)
        let count = Int64(content.utf8.count)
        let start = Int64(Self.head("a").utf8.count)
        for limit in 0...count {
            run.limits.fieldBytes = limit
            // The second part's field has a byte of its own.
            run.limits.totalFieldBytes = limit + 1
            let (log, difference) = run.parseInAllSplits(Array(Self.body(content).utf8))
            #expect(difference == nil)
            if limit == count {
                #expect(log.failure == nil && log.texts == [content, "v"])
            } else {
                #expect(log.code == .fieldTooLarge && log.errorOffset == start + limit)
                #expect(Array(log.texts[0].utf8) == Array(content.utf8.prefix(Int(limit))))
            }
        }
    }

    @Test(arguments: ["--bX\r\n", "\r\n--bX\r\n", "x\r\n--bX\r\n", "--b-\r\n--b-\r\n"])
    func `In a preamble its bytes are counted as they are`(preamble: String) throws {
        var run = try Self.run(.crlf, .mixed)
        let text = "\(preamble)--b\r\n\r\nv\r\n--b--"
        // The last line break is the delimiter's.
        let count = preamble.utf8.count - 2
        for limit in [count, count - 1] {
            run.limits.preambleBytes = Int64(limit)
            let (log, difference) = run.parseInAllSplits(Array(text.utf8))
            #expect(difference == nil)
            #expect(log.code == (limit == count ? nil : .preambleTooLong))
            #expect(log.errorOffset == (limit == count ? nil : Int64(limit)))
        }
    }

    @Test func `A file of them only is what it was, in memory of one`() throws {
        let run = try Self.run(.lenient)
        let content = [UInt8](repeatElement(Array("\n--bX".utf8), count: 20_000).joined())
        let head = Array(Self.head("a").utf8)
        let body = head + content + Array("\r\n--b--\r\n".utf8)
        for size in [1000, 65_536] {
            let (log, cost) = run.parseCounting(Split.every(size, body))
            #expect(log.failure == nil && difference(log.parts[0].content, content) == nil)
            #expect(cost.retained <= head.count + 20)
        }
    }
}
