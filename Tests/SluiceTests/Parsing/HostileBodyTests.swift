import Sluice
import SluiceTestSupport
import Testing

/// Bodies that are made to cost time or memory: both are counted, not timed.
@Suite struct HostileBodyTests {
    private static let size = 256 << 10

    private static func framed(_ content: [UInt8], _ boundary: String) -> [UInt8] {
        ReferenceEncoder.encode(
            boundary: boundary,
            [.formData(name: "n", filename: "f", type: nil, content: content)]
        )
    }

    static let boundaries = [
        "x", "boundary-0123456789", String(repeating: "a", count: 70), String(repeating: "-", count: 68),
    ]

    private static func patterns(_ boundary: String) -> [[UInt8]] {
        let delimiter = Array("\r\n--\(boundary)".utf8)
        let last = delimiter[delimiter.count - 1]
        var flipped = delimiter
        flipped[delimiter.count / 2] ^= 1
        let patterns: [[UInt8]] = [
            [0x0D], [0x0A], [0x0D, 0x0A], [0x2D], [last], [0x0D, last], Array("\r\n--".utf8),
            Array("\r\n--".utf8) + [last],
            Array(delimiter.dropLast()), flipped, Array(delimiter.prefix(9)) + [last],
            Array(delimiter[..<(delimiter.count / 2)]) + [last],
        ]
        // For the shortest boundary, some of these are the delimiter itself.
        return patterns.filter { pattern in
            let twice = pattern + pattern
            return !twice.indices.contains { twice[$0...].starts(with: delimiter) }
        }
    }

    @Test(arguments: boundaries)
    func `The work is linear and nothing but a delimiter's beginning is kept`(boundary: String) throws {
        let needle = boundary.utf8.count + 4
        for pattern in Self.patterns(boundary) {
            // Not at the start of a line, where a boundary of hyphens would begin at once.
            var content: [UInt8] = [0x41]
            while content.count < Self.size { content += pattern }
            let bytes = Self.framed(content, boundary)
            let run = try ParserRun(boundary)
            // The last one makes every chunk end where the pattern begins again, behind its CR.
            for size in [7, 4096, bytes.count, 50 * pattern.count + 1] {
                let (log, cost) = run.parseCounting(Split.every(size, bytes))
                #expect(log.failure == nil && log.hasEnd)
                #expect(difference(log.parts[0].content, content) == nil)
                #expect(cost.retained <= max(needle, 200))
                // Each byte once, again where a delimiter began at a chunk's end, and one comparison for 8 at most.
                #expect(cost.work <= bytes.count * 3, "\(pattern) in chunks of \(size)")
            }
        }
    }

    @Test func `Single bytes cost no more than a few steps each`() throws {
        let boundary = String(repeating: "a", count: 70)
        for pattern in Self.patterns(boundary) {
            // Not at the start of a line, where a boundary of hyphens would begin at once.
            var content: [UInt8] = [0x41]
            while content.count < 20_000 { content += pattern }
            let bytes = Self.framed(content, boundary)
            let (log, cost) = try ParserRun(boundary).parseCounting(Split.every(1, bytes))
            #expect(log.hasEnd && cost.work <= bytes.count * 4)
        }
    }

    @Test func `A body without its delimiter is refused at its first byte`() throws {
        let chunk = [UInt8](repeating: 0x41, count: 64 << 10)
        let (log, cost) = try ParserRun().parseCounting((0..<16).map { _ in chunk[...] })
        #expect(log.code == .unexpectedPreamble && log.errorOffset == 0)
        #expect(cost.work < 10 && cost.retained == 0)
    }

    @Test(arguments: [0, 1, 65_536])
    func `A preamble that is passed over has a limit`(limit: Int) throws {
        var run = try ParserRun("b", .mixed)
        run.limits.preambleBytes = Int64(limit)
        for (excess, code) in [(0, nil), (1, .preambleTooLong)] as [(Int, MultipartError.Code?)] {
            let bytes = [UInt8](repeating: 0x0D, count: limit + excess) + Array("\r\n--b\r\n\r\n\r\n--b--".utf8)
            let log = run.parse(bytes)
            #expect(log.code == code && log.errorOffset == (code == nil ? nil : Int64(limit)))
            for size in [1, 1000, 4096] { #expect(run.parse(Split.every(size, bytes)) == log) }
        }
        let endless = (0..<1000).map { _ in [UInt8](repeating: 0x41, count: 4096)[...] }
        #expect(run.parseCounting(endless).log.errorOffset == Int64(limit))
    }

    @Test func `Line breaks before the first delimiter are no way around that`() throws {
        let breaks = Array(String(repeating: "\r\n", count: 1 << 19).utf8)
        #expect(try ParserRun().parse(breaks).errorOffset == 2)
        #expect(try ParserRun("b", .mixed).parse(breaks).code == .preambleTooLong)
    }

    // MARK: Headers

    private static let start = "--b\r\nContent-Disposition: form-data; name=n\r\n"

    @Test(arguments: ["X-Long: ", "", "X"])
    func `A header line without an end is refused at the limit`(line: String) throws {
        let bytes = Array((Self.start + line).utf8) + [UInt8](repeating: 0x41, count: 1 << 20)
        let run = try ParserRun()
        for size in [1, 64, 8192, bytes.count] {
            let (log, cost) = run.parseCounting(Split.every(size, bytes))
            #expect(log.code == .partHeadersTooLarge && log.errorOffset == 5 + 8192)
            #expect(cost.retained <= 8193)
        }
    }

    @Test func `Header lines without end are refused at the limit`() throws {
        let lines = String(repeating: "a:\r\n", count: 10_000)
        let run = try ParserRun()
        let (log, difference) = run.parseInAllSplits(Array((Self.start + lines).utf8))
        #expect(difference == nil)
        #expect(log.code == .tooManyPartHeaders && log.errorOffset == Int64(Self.start.utf8.count + 15 * 4))
    }

    @Test func `Folded headers are refused, and where they are not, limited`() throws {
        let folded = Self.start + "X-A: b\r\n c\r\n\t\td \r\n\r\nv\r\n--b--"
        let (strict, difference) = try ParserRun().parseInAllSplits(Array(folded.utf8))
        #expect(difference == nil)
        #expect(strict.code == .invalidHeader && strict.errorOffset == Int64(Self.start.utf8.count + 8))

        var run = try ParserRun()
        run.policies.folding = .unfold
        let lenient = run.parseInAllSplits(Array(folded.utf8))
        #expect(lenient.difference == nil && lenient.log.failure == nil)
        // RFC 9112 section 5.2: each fold is replaced by one or more spaces.
        #expect(lenient.log.parts[0].headers[1].value.split(separator: " ").map(String.init) == ["b", "c", "\t\td"])
        #expect(lenient.log.parts[0].name == "n")

        let many = Array((Self.start + String(repeating: " x\r\n", count: 100_000)).utf8)
        run.limits.partHeaderCount = .max
        for size in [64, many.count] {
            let (log, cost) = run.parseCounting(Split.every(size, many))
            #expect(log.code == .partHeadersTooLarge && cost.retained <= 8193)
        }
    }

    @Test func `Malformed headers are one error, however many`() throws {
        let bytes = Array(("--b\r\n" + String(repeating: "junk\r\n", count: 100_000)).utf8)
        let log = try ParserRun().parse(bytes)
        #expect(log.code == .tooManyPartHeaders)
        var parser = MultipartParser(
            try ParserRun().contentType,
            limits: ParserLimits(fileBytes: 1, totalBytes: 1 << 20)
        )
        let first = failure { _ = try parser.next(bytes[...]) }
        let again = failure { _ = try parser.next(bytes[...]) }
        let last = failure { _ = try parser.finish() }
        #expect(first?.code == .tooManyPartHeaders)
        #expect(first?.byteOffset == again?.byteOffset && again?.description == last?.description)
    }

    // MARK: Calls out of turn

    @Test(arguments: ["Content-Type: text/plain\r\n\r\n", "\r\nv", "\r\n"])
    func `A million parts are refused at the limit, with names or without`(part: String) throws {
        let run = try ParserRun("b", .mixed)
        let text = "--b\r\n\(part)\r\n"
        let chunk = Array(String(repeating: text, count: 1000).utf8)
        let (log, cost) = run.parseCounting((0..<1000).lazy.map { _ in chunk[...] })
        #expect(log.code == .tooManyParts && log.parts.count == 1000)
        #expect(log.errorOffset == Int64(1000 * text.utf8.count + 5))
        #expect(cost.work <= 4 * chunk.count && cost.retained <= 100)
    }

    @Test func `Empty chunks are neither bytes nor the end`() throws {
        var parser = MultipartParser(try ParserRun().contentType, limits: ParserLimits(fileBytes: 1, totalBytes: 1))
        for _ in 0..<10_000 { #expect(try parser.next([]) == nil) }
        #expect(parser.work == 0 && parser.retainedBytes == 0 && parser.byteOffset == 0)
    }

    @Test func `Chunks behind the end are refused`() throws {
        let bytes = Array("--b--\r\n".utf8)
        var parser = MultipartParser(try ParserRun().contentType, limits: ParserLimits(fileBytes: 1, totalBytes: 100))
        while let _ = try parser.next(bytes[...]) {}
        #expect(try parser.finish() == nil)
        #expect(failure { _ = try parser.next(bytes[...]) }?.code == .outOfTurn)
        #expect(failure { _ = try parser.finish() }?.code == .outOfTurn)
    }

    @Test func `A chunk that is not used up is not another one's place`() throws {
        let bytes = Array("--b--\r\n".utf8)
        var parser = MultipartParser(try ParserRun().contentType, limits: ParserLimits(fileBytes: 1, totalBytes: 100))
        _ = try parser.next(bytes[...])
        #expect(failure { _ = try parser.next(bytes[..<2]) }?.code == .outOfTurn)
        var other = MultipartParser(try ParserRun().contentType, limits: ParserLimits(fileBytes: 1, totalBytes: 100))
        _ = try other.next(bytes[...])
        #expect(failure { _ = try other.finish() }?.code == .outOfTurn)
    }
}

extension MultipartParser.Event? {
    fileprivate static func == (event: Self, nothing: _OptionalNilComparisonType) -> Bool {
        if case .none = event { true } else { false }
    }
}
