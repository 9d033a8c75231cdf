package import Sluice

/// Forms made at random, each with the parts that the reference encoder takes for it.
package struct RandomForm {
    package private(set) var random: SeededGenerator
    /// The sources to choose from, besides text.
    private let sources: [Source]

    /// A kind of source, given the content that it is to have.
    package typealias Source = @Sendable (_ content: [UInt8], _ filename: String) throws -> Part

    package init(seed: UInt64, sources: [Source]) {
        random = SeededGenerator(seed: seed)
        self.sources = sources
    }

    /// The sources that need neither file nor task.
    package static let plainSources: [Source] = [
        { .file("n", bytes: $0, filename: $1) },
        { .file("n", bytes: ([1, 2] + $0 + [3])[2..<2 + $0.count], filename: $1) },
        { .file("n", GeneratorSource.once(generator(of: $0, step: 3)), filename: $1) },
        { content, filename in
            let source = GeneratorSource.restartable(knownLength: Int64(content.count)) { generator(of: content) }
            return .file("n", source, filename: filename)
        },
        { .file("n", ScriptedSource($0, knownLength: Int64($0.count), mayBlock: false, step: 5), filename: $1) },
        { .file("n", ScriptedSource($0, mayBlock: false), filename: $1) },
    ]

    /// A form and what it must look like on the wire, in part A of the rules for form-data.
    package mutating func next(deepest: Int = 2) throws -> (form: MultipartForm, expected: [UInt8], contentType: String)
    {
        let (form, expected, contentType, _) = try nextWithParts(deepest: deepest)
        return (form, expected, contentType)
    }

    /// The same, with what the reference encoder made it of.
    package mutating func nextWithParts(
        deepest: Int = 2
    ) throws -> (form: MultipartForm, expected: [UInt8], contentType: String, parts: [ReferencePart]) {
        let boundary = try randomBoundary()
        let subtype: MultipartForm.Subtype = pick([.formData, .mixed, .alternative])
        let escaping: NameEscaping = pick([.percent, .html])
        let (form, parts) = try fill(MultipartForm(subtype: subtype, boundary: boundary, escaping: escaping), deepest)
        // RFC 9110 section 5.6.2: of the boundary's characters these make it no token.
        let isToken = !boundary.description.contains { "(),/:=? ".contains($0) }
        let quote = isToken ? "" : "\""
        return (
            form, ReferenceEncoder.encode(boundary: boundary.description, parts),
            "multipart/\(subtype); boundary=\(quote)\(boundary)\(quote)", parts
        )
    }

    private mutating func fill(_ form: MultipartForm, _ deepest: Int) throws -> (MultipartForm, [ReferencePart]) {
        var form = form
        var parts: [ReferencePart] = []
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            let (part, expected) = try part(of: form, deepest)
            try form.append(part)
            parts.append(expected)
        }
        return (form, parts)
    }

    private mutating func part(of form: MultipartForm, _ deepest: Int) throws -> (Part, ReferencePart) {
        let name = randomName()
        let headers: [HeaderField] = try pick([[], [], [("X-A", "b"), ("Content-ID", "<c@d>")]])
            .map { try HeaderField($0.0, $0.1) }
        let extra = headers.map { (name: $0.name, value: Array($0.value.utf8)) }
        var isHTML = false
        if case .html = form.escaping { isHTML = true }

        switch Int.random(in: 0..<10, using: &random) {
        case 0..<3:
            let value = randomName()
            let sent = isHTML ? ReferenceEncoder.normalisedValue(value) : Array(value.utf8)
            return (.field(name, value), .formData(name: name, content: sent))
        case 3 where deepest > 0:
            // A fixed start that no random outer boundary has.
            let boundary = try Boundary("nested\(deepest)-\(UInt64.random(in: 0...UInt64.max, using: &random))")
            let (inner, parts) = try fill(MultipartForm(subtype: .mixed, boundary: boundary), deepest - 1)
            var expected = ReferencePart.formData(name: name, type: inner.contentType, content: [])
            expected.headers += extra
            expected.content = .nested(boundary: boundary.description, parts)
            return (.form(name, inner, headers: headers), expected)
        default:
            let content = randomContent()
            let filename = randomName()
            let type = pick([nil, "text/plain; charset=utf-8"])
            var part = try pick(sources)(content, filename)
            part.disposition?.name = name
            part.headers = headers
            if let type { part.mediaType = try MediaType(type) }
            var expected = ReferencePart.formData(
                name: name,
                filename: filename,
                type: type ?? MediaType.forFilename(filename).description,
                content: content
            )
            expected.headers += extra
            return (part, expected)
        }
    }

    private mutating func randomBoundary() throws -> Boundary {
        let characters = Array("abcXYZ019'()+_,-./:=? ".utf8)
        // It begins with a z and nested ones with an n, so that it is never the beginning of theirs.
        let middle = (0..<Int.random(in: 0...68, using: &random)).map { _ in pick(characters) }
        return try Boundary("z" + String(decoding: middle, as: UTF8.self) + "q")
    }

    private mutating func randomName() -> String {
        let pieces = [
            "a", "Z", " ", "\"", "\r", "\n", "\r\n", "\\", ";", "%", "\u{E9}", "\u{1F4A9}", ".txt", ".PNG", "=",
        ]
        return (0..<Int.random(in: 0...8, using: &random)).map { _ in pick(pieces) }.joined()
    }

    private mutating func randomContent() -> [UInt8] {
        let length = pick([0, 1, 2, 100, 4096, Int.random(in: 0...10_000, using: &random)])
        // Now and then what looks like a delimiter and is none.
        return Bool.random(using: &random)
            ? random.bytes(length) : (0..<length).map { _ in pick(Array("\r\n-z\0".utf8)) }
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &random)]
    }
}
