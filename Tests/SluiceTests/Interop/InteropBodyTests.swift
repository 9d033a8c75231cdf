import Sluice
import SluiceTestSupport
import Testing

/// Whole bodies as aiohttp, werkzeug and Python's email package read them.
@Suite(.timeLimit(.minutes(10))) struct InteropBodyTests {
    private typealias Parser = ForeignParsers.Parser

    private func outcomes(_ form: MultipartForm) async throws -> [Parser: ForeignParsers.Outcome] {
        try #require(await ForeignParsers.parse([form.body()]).first)
    }

    @Test func `An empty form has no parts`() async throws {
        let outcomes = try await outcomes(MultipartForm())
        #expect(outcomes[.aiohttp]?.parts?.count == 0)
        #expect(outcomes[.werkzeug]?.parts?.count == 0)
        // Python's email package calls a close-delimiter alone an error, although RFC 2046's grammar needs a part only
        // where there is a delimiter: browsers send just this for a form without fields.
        #expect(outcomes[.email]?.parts == nil)
    }

    /// Contents that look like a delimiter, end in one's beginning, or are empty.
    private static func contents(_ boundary: String) -> [[UInt8]] {
        let texts = [
            "", "\r\n", "\r", "\n", "\r\n\r\n", "--", "\r\n--", "--\(boundary.dropLast())",
            "\r\n--\(boundary.dropLast())",
            "\r\n--\(boundary.dropLast())!", "\r\n--\(boundary.dropLast())\r\n", "\n--\(boundary.dropLast())",
            "x--\(boundary.dropLast())--",
            "\r\r\n--\r\n", "a\r\n", "\r\na", "\0", "\r\n--\(boundary.uppercased())x", " ",
            "Content-Type: text/plain\r\n\r\n",
        ]
        return texts.map { Array($0.utf8) } + [Array(0...255), TemporaryDirectory.noise(100_000)]
    }

    @Test func `Contents of any bytes come through, however like a delimiter they are`() async throws {
        let boundary = try Boundary("boundary-0123456789")
        let contents = Self.contents(boundary.description)
        var form = MultipartForm(boundary: boundary)
        for (number, content) in contents.enumerated() {
            try form.append(.file("n\(number)", bytes: content, filename: "f\(number)"))
        }
        let sums = try await ForeignParsers.sha256(of: contents)
        for (parser, outcome) in try await outcomes(form) {
            let parts = try #require(outcome.parts, "\(parser): \(outcome)")
            #expect(parts.map(\.name) == contents.indices.map { "n\($0)" }, "\(parser)")
            #expect(parts.map(\.size) == contents.map(\.count), "\(parser)")
            #expect(parts.map(\.sha256) == sums, "\(parser)")
        }
    }

    @Test func `Boundaries of every kind are understood, quoted where they have to be`() async throws {
        let texts = ["b", "b b", "'()+_,-./:=?z", "a=b, c", String(repeating: "x", count: 70), "-", "--", "---b--"]
        let bodies = try texts.map { text in
            var form = MultipartForm(boundary: try Boundary(text))
            try form.addField(name: "a", value: "1")
            try form.addFile(name: "b", filename: "f", data: [])
            return try form.body()
        }
        for (text, outcomes) in try await zip(texts, ForeignParsers.parse(bodies)) {
            for (parser, outcome) in outcomes {
                let parts = try #require(outcome.parts, "\(parser), \(text): \(outcome)")
                #expect(parts.map(\.name) == ["a", "b"] && parts.map(\.size) == [1, 0], "\(parser), \(text)")
            }
        }
    }

    @Test func `Files of every source keep their bytes, names and types`() async throws {
        let directory = try TemporaryDirectory()
        let content = TemporaryDirectory.noise((2 << 20) + 7)
        let path = try directory.file("film \u{E9}.mp4", content)
        let fifo = "\(directory.path)/fifo.csv"
        try Files.makeFIFO(fifo)
        let chunks = chunked(content, [100, 1, 70_000])
        var form = MultipartForm()
        try form.addFile(name: "path", path: path)
        try form.append(.file("range", FileSource(path: path, range: 1000..<2_000_000), filename: "range.bin"))
        try form.append(.file("memory", bytes: content, filename: "m.json"))
        try form.append(.file("generated", .once(generator(of: content)) as GeneratorSource, filename: "g.PNG"))
        try form.append(.file("awaited", AsyncSource(stream(of: chunks)), filename: "a"))
        try form.append(.file("fifo", path: fifo))
        let body = try form.body()
        async let fed: Void = onThread {
            let descriptor = try Files.descriptor(of: fifo, 1)
            defer { Files.close(descriptor) }
            try writeAll(content, to: descriptor)
        }
        let outcomes = try #require(await ForeignParsers.parse([body]).first)
        try await fed
        let whole = try await onThread { try ChildProcess.sha256(ofFile: path) }
        let part = try await ForeignParsers.sha256(of: [Array(content[1000..<2_000_000])])[0]
        for (parser, outcome) in outcomes {
            let parts = try #require(outcome.parts, "\(parser): \(outcome)")
            #expect(parts.map(\.name) == ["path", "range", "memory", "generated", "awaited", "fifo"], "\(parser)")
            #expect(
                parts.map(\.filename) == ["film \u{E9}.mp4", "range.bin", "m.json", "g.PNG", "a", "fifo.csv"],
                "\(parser)"
            )
            #expect(
                parts.map(\.contentType) == [
                    "video/mp4", "application/octet-stream", "application/json", "image/png",
                    "application/octet-stream",
                    "text/csv",
                ],
                "\(parser)"
            )
            #expect(parts.map(\.sha256) == [whole, part, whole, whole, whole, whole], "\(parser)")
        }
    }

    @Test func `Ten thousand parts are ten thousand parts`() async throws {
        let contents = (0..<10_000).map { Array("\($0)".utf8) + [UInt8](repeating: 13, count: $0 % 3) }
        var form = MultipartForm()
        for (number, content) in contents.enumerated() {
            try form.addFile(name: "name \(number)", filename: "\(number).txt", data: content)
        }
        let sums = try await ForeignParsers.sha256(of: contents)
        for (parser, outcome) in try await outcomes(form) {
            let parts = try #require(outcome.parts, "\(parser)")
            #expect(parts.map(\.sha256) == sums, "\(parser)")
            #expect(parts.map(\.name) == contents.indices.map { "name \($0)" }, "\(parser)")
            #expect(parts.map(\.filename) == contents.indices.map { "\($0).txt" }, "\(parser)")
            #expect(parts.allSatisfy { $0.contentType == "text/plain" }, "\(parser)")
        }
    }

    @Test func `A form in a form is gone into by aiohttp and email, and one part to werkzeug`() async throws {
        let binary = Array(UInt8.min...UInt8.max)
        let inner = try MultipartForm(subtype: .mixed, boundary: Boundary("inner (1)")) {
            Part(disposition: .attachment(filename: "a.txt"), mediaType: .plainText, bytes: Array("first".utf8))
            Part(disposition: .attachment(filename: "\u{E9}.bin"), mediaType: .octetStream, bytes: binary)
            Part(disposition: nil, mediaType: nil, bytes: [])
        }
        var form = MultipartForm()
        try form.addField(name: "before", value: "1")
        try form.append(.form("album", inner))
        try form.addField(name: "after", value: "2")
        let outcomes = try await outcomes(form)
        let sums = try await ForeignParsers.sha256(of: [Array("first".utf8), binary, []])
        for parser in [Parser.aiohttp, .email] {
            let parts = try #require(outcomes[parser]?.parts, "\(parser)")
            #expect(parts.map(\.name) == ["before", "album", "after"], "\(parser)")
            #expect(parts[1].contentType == "multipart/mixed; boundary=\"inner (1)\"", "\(parser)")
            let nested = try #require(parts[1].parts)
            #expect(
                nested.map(\.sha256) == sums && nested.map(\.filename) == ["a.txt", "\u{E9}.bin", nil],
                "\(parser)"
            )
        }
        let parts = try #require(outcomes[.werkzeug]?.parts)
        let whole = try await ForeignParsers.sha256(of: [inner.body().bytes()])
        #expect(parts.map(\.name) == ["before", "album", "after"])
        #expect(parts[1].sha256 == whole[0])
    }

    @Test func `Related forms with headers of the caller's are understood`() async throws {
        var form = MultipartForm(subtype: .related)
        try form.addParameter(name: "start", value: "<root@example>")
        let root = [try HeaderField("Content-ID", "<root@example>"), try HeaderField("X-Note", "a; b=\"c\", \u{E9}")]
        try form.append(
            Part(disposition: nil, mediaType: try MediaType("text/html; charset=utf-8"), headers: root, bytes: [65])
        )
        try form.append(Part(disposition: .attachment(), mediaType: .json, bytes: Array("{}".utf8)))
        let outcomes = try await outcomes(form)
        // werkzeug refuses parts without a disposition.
        for parser in [Parser.aiohttp, .email] {
            let parts = try #require(outcomes[parser]?.parts, "\(parser)")
            #expect(parts.map(\.contentType) == ["text/html; charset=utf-8", "application/json"], "\(parser)")
            let expected = [
                ["Content-Type", "text/html; charset=utf-8"], ["Content-ID", "<root@example>"],
                ["X-Note", "a; b=\"c\", \u{E9}"],
            ]
            #expect(parts[0].headers == expected, "\(parser)")
            #expect(parts.map(\.size) == [1, 2], "\(parser)")
        }
    }

    @Test func `Random forms have the parts that they were made of`() async throws {
        let seeds = seeds(fixed: 15, fresh: 15)
        var bodies: [MultipartBody] = []
        for seed in seeds {
            // Files only, with names that every parser takes as they are: what is random is their number and bytes.
            var random = SeededGenerator(seed: seed)
            var form = MultipartForm()
            for number in 0...Int.random(in: 0...20, using: &random) {
                let content = random.bytes(Int.random(in: 0...5000, using: &random))
                try form.append(.file("n\(number)", bytes: content, filename: "f"))
            }
            bodies.append(try form.body())
        }
        for (seed, outcomes) in try await zip(seeds, ForeignParsers.parse(bodies)) {
            var random = SeededGenerator(seed: seed)
            var contents: [[UInt8]] = []
            for _ in 0...Int.random(in: 0...20, using: &random) {
                contents.append(random.bytes(Int.random(in: 0...5000, using: &random)))
            }
            let sums = try await ForeignParsers.sha256(of: contents)
            for (parser, outcome) in outcomes {
                #expect(outcome.parts?.map(\.sha256) == sums, "seed \(seed), \(parser)")
            }
        }
    }
}
