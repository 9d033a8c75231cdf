import Sluice
import SluiceTestSupport
import Testing

/// What the encoder writes, the parser reads: random forms, and what others make of the same bytes.
@Suite(.timeLimit(.minutes(10))) struct RoundTripTests {
    private static let limits = ParserLimits(fileBytes: 1 << 30, totalBytes: 1 << 30)

    /// A part as it went in or came out.
    private struct Piece: Equatable {
        var headers: [[String]]
        var name: String?
        var filename: String?
        var content: [UInt8] = []
        var parts: [Piece]?
    }

    /// The parts of the bytes, with those in them.
    private static func pieces(
        _ bytes: ArraySlice<UInt8>,
        _ type: MultipartContentType,
        _ decoding: ParserPolicies.NameDecoding
    ) throws -> [Piece] {
        var policies = ParserPolicies(for: type.subtype)
        policies.nameDecoding = decoding
        return try ParsedPart.parts(of: bytes, type, limits: limits, policies: policies).map { part in
            let nested = try part.headers.nestedContentType.map { try pieces(part.content, $0, decoding) }
            return Piece(
                headers: part.headers.fields.map { [$0.name, $0.value] },
                name: part.headers.name,
                filename: part.headers.filename,
                content: nested == nil ? Array(part.content) : [],
                parts: nested
            )
        }
    }

    /// What the form was made of, by the reference encoder's parts.
    private static func expected(_ parts: [ReferencePart]) -> [Piece] {
        parts.map { part in
            var piece = Piece(
                headers: part.headers.map { [$0.name, String(decoding: $0.value, as: UTF8.self)] },
                name: part.name.map(ReferenceEncoder.newlinesOfName),
                filename: part.filename
            )
            switch part.content {
            case .bytes(let bytes): piece.content = bytes
            case .nested(_, let parts): piece.parts = expected(parts)
            }
            return piece
        }
    }

    @Test(arguments: seeds(fixed: 10, fresh: 10))
    func `Random forms come back as they were`(seed: UInt64) throws {
        var forms = RandomForm(seed: seed, sources: RandomForm.plainSources)
        var random = SeededGenerator(seed: seed)
        for number in 0..<150 {
            let (form, expected, contentType, parts) = try forms.nextWithParts()
            let type = try MultipartContentType(contentType)
            let bytes = try form.body().bytes()
            #expect(bytes == expected)
            #expect(try Self.pieces(bytes[...], type, .percent) == Self.expected(parts), "form \(number)")
            let run = try ParserRun(type.boundary.description, type.subtype, policies: Self.policies(type))
            let whole = run.parse(bytes)
            #expect(whole.hasEnd && whole.failure == nil, "form \(number)")
            #expect(run.parse(Split.atRandom(bytes, &random)) == whole, "form \(number)")
        }
    }

    private static func policies(_ type: MultipartContentType) -> ParserPolicies {
        var policies = ParserPolicies(for: type.subtype)
        policies.nameDecoding = .percent
        return policies
    }

    @Test(arguments: [
        "a\"b", "\\", "a\\", "\\\"", "\\\\", "%22", "\u{E9}\u{1F4A9}", ";", "", "a\tb", "\"; filename=\"x",
    ])
    func `Names written with backslashes are read with them`(name: String) throws {
        var form = MultipartForm(boundary: try Boundary("b"), escaping: .backslash)
        try form.addField(name: name, value: "v")
        try form.addFile(name: name, filename: name, data: [1])
        let bytes = try form.body().bytes()
        let type = try MultipartContentType(form.contentType)
        let pieces = try Self.pieces(bytes[...], type, .backslash)
        #expect(pieces.map(\.name) == [name, name] && pieces.map(\.filename) == [nil, name])
        // Where quotes alone are decoded, backslashes may stay, but the parts are the same ones.
        let others = try Self.pieces(bytes[...], type, .compatible)
        #expect(others.map(\.content) == pieces.map(\.content))
        if !name.contains("\\") { #expect(others == pieces) }
    }

    // MARK: Others

    @Test func `The same bytes are the same parts to three other parsers`() async throws {
        let seeds = seeds(fixed: 15, fresh: 15)
        let bodies = try seeds.map { seed in try Self.plainForm(seed).body() }
        for (index, outcomes) in try await ForeignParsers.parse(bodies).enumerated() {
            let type = try MultipartContentType(bodies[index].contentType)
            let ours = try Self.pieces(bodies[index].bytes()[...], type, .compatible)
            let sums = ours.isEmpty ? [] : try await ForeignParsers.sha256(of: ours.map(\.content))
            for (parser, outcome) in outcomes {
                let comment: Comment = "\(parser), seed \(seeds[index])"
                // Python's email package calls a form without parts an error.
                if parser == .email, ours.isEmpty { continue }
                let theirs = try #require(outcome.parts, comment)
                #expect(theirs.map(\.name) == ours.map(\.name), comment)
                #expect(theirs.map(\.filename) == ours.map(\.filename), comment)
                #expect(theirs.map(\.size) == ours.map(\.content.count), comment)
                #expect(theirs.map(\.sha256) == sums, comment)
                #expect(theirs.map(\.headers) == ours.map(\.headers), comment)
            }
        }
    }

    /// A form whose names all parsers read alike.
    private static func plainForm(_ seed: UInt64) throws -> MultipartForm {
        var random = SeededGenerator(seed: seed)
        func name() -> String {
            let pieces = ["a", "Z", "1", " b", "\u{E9}x", "-", "_.", "%20", "'", "="]
            return "n"
                + (0..<Int.random(in: 0...5, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
                .joined()
        }
        var form = MultipartForm()
        let delimiter = Array("\r\n--\(form.boundary)".utf8)
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            var content = random.bytes([0, 1, 100, 70_000].randomElement(using: &random) ?? 0)
            if Bool.random(using: &random) { content += delimiter.dropLast(Int.random(in: 1...10, using: &random)) }
            let isFile = Bool.random(using: &random)
            try form.append(
                Part(
                    disposition: .formData(name: name(), filename: isFile ? name() + ".bin" : nil),
                    mediaType: isFile ? .octetStream : nil,
                    headers: isFile ? [HeaderField("X-Note", "a; b=\"c\"")] : [],
                    bytes: content
                )
            )
        }
        return form
    }
}
