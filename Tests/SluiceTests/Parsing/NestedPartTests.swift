import Sluice
import SluiceTestSupport
import Testing

/// Multiparts in parts.
@Suite(.timeLimit(.minutes(5))) struct NestedPartTests {
    private static func multipart(_ boundary: String, _ parts: [String]) -> String {
        parts.map { "--\(boundary)\r\n\($0)\r\n" }.joined() + "--\(boundary)--\r\n"
    }

    private static func nested(_ boundary: String, _ content: String) -> String {
        "Content-Disposition: form-data; name=album\r\nContent-Type: multipart/mixed; boundary=\"\(boundary)\"\r\n\r\n\(content)"
    }

    /// Names and contents, with nested ones in brackets.
    private static func walk<Upstream: AsyncSequence>(_ reader: MultipartReader<Upstream>) async throws -> String {
        var text = ""
        for try await part in reader { text += try await describe(part) }
        return text
    }

    private static func describe<Slice>(_ part: ReceivedPart<Slice>) async throws -> String {
        guard let parts = try part.parts() else {
            return "\(part.headers.name ?? "")=\(try await part.text(upTo: 1000));"
        }
        var text = "\(part.headers.name ?? "")["
        for try await part in parts { text += try await describe(part) }
        return text + "]"
    }

    private static func walk(_ text: String, depth: Int = 2, sizes: [Int] = [7]) async throws -> String {
        var limits = MultipartReaderTests.limits
        limits.nestingDepth = depth
        let chunks = Upstream().chunks(chunked(Array(text.utf8), sizes))
        return try await walk(
            MultipartReader(chunks, contentType: "multipart/form-data; boundary=b", limits: limits)
        )
    }

    private static let field = "Content-Disposition: form-data; name=a\r\n\r\n"

    @Test(arguments: [1, 2, 5, 1000])
    func `Parts in a part are read like others`(size: Int) async throws {
        let inner = Self.multipart("in", ["\r\n1", "Content-Disposition: attachment; filename=x\r\n\r\n2", "\r\n"])
        let text = Self.multipart("b", [Self.nested("in", "preamble\r\n\(inner)epilogue"), Self.field + "3"])
        #expect(try await Self.walk(text, sizes: [size]) == "album[=1;=2;=;]a=3;")
    }

    @Test func `Nesting has a limit`() async throws {
        for depth in [1, 2, 3, 10, 100] {
            var text = Self.field + "v"
            for level in (1..<100).reversed() { text = Self.nested("n\(level)x", Self.multipart("n\(level)x", [text])) }
            let error = await failure { try await Self.walk(Self.multipart("b", [text]), depth: depth) }
            #expect(error?.code == (depth < 100 ? .nestingTooDeep : nil))
            if depth < 100 { #expect(error?.part?.enclosing.count == depth - 1) }
        }
    }

    @Test(arguments: ["b", "bb", "b-in"])
    func `The outer delimiter wins, whatever the inner boundary is`(boundary: String) async throws {
        let text = Self.multipart("b", [Self.nested(boundary, Self.multipart(boundary, ["\r\n1"])), Self.field + "3"])
        let error = await failure { try await Self.walk(text) }
        // An inner boundary that begins with the outer one makes its delimiters the outer's, which then go on; an equal one
        // ends the outer part at once, so that the inner multipart is empty and cut off.
        #expect(error?.code == (boundary == "b" ? .unexpectedEnd : .invalidDelimiter))
    }

    @Test func `With the policy for it, an inner boundary may begin with the outer one`() async throws {
        var policies = ParserPolicies()
        policies.delimiterSuffix = .data
        let text = Self.multipart(
            "b",
            [Self.nested("b-in", Self.multipart("b-in", ["\r\n1", "\r\n2"])), Self.field + "3"]
        )
        for size in [1, 3, 1000] {
            let reader = try MultipartReader(
                Upstream().chunks(chunked(Array(text.utf8), [size])),
                contentType: MultipartReaderTests.type,
                limits: MultipartReaderTests.limits,
                policies: policies
            )
            #expect(try await Self.walk(reader) == "album[=1;=2;]a=3;")
        }
    }

    @Test func `What is not read of an inner multipart is passed over`() async throws {
        let text = Self.multipart(
            "b",
            [Self.nested("in", Self.multipart("in", ["\r\n1", "\r\n2"])), Self.field + "3"]
        )
        var seen: [String] = []
        for try await part in try MultipartReaderTests.reader(text, by: [3]) {
            guard let parts = try part.parts() else {
                seen.append(try await part.text(upTo: 9))
                continue
            }
            for try await inner in parts {
                seen.append(try await inner.text(upTo: 9))
                break
            }
        }
        #expect(seen == ["1", "3"])
    }

    @Test func `Limits are those of the whole body`() async throws {
        let inner = Self.multipart("in", Array(repeating: "\r\n1", count: 5))
        let text = Self.multipart("b", [Self.nested("in", inner), Self.nested("in", inner)])
        for (count, code) in [(12, nil), (11, .tooManyParts), (7, .tooManyParts), (6, .tooManyParts)]
            as [(Int, MultipartError.Code?)]
        {
            var limits = MultipartReaderTests.limits
            limits.partCount = count
            let reader = try MultipartReader(
                Upstream().chunks([Array(text.utf8)]),
                contentType: MultipartReaderTests.type,
                limits: limits
            )
            let error = await failure { try await Self.walk(reader) }
            #expect(error?.code == code)
            if count == 6 { #expect(error?.part == nil) }
            if count == 7 { #expect(error?.part?.description == "\"album\"") }
        }
    }

    @Test func `A file in an inner multipart may be as long as a file, and all as long as the body`() async throws {
        let content = String(repeating: "v", count: 1000)
        let inner = Self.multipart("in", ["\r\n\(content)", "\r\n\(content)"])
        let text = Self.multipart("b", [Self.nested("in", inner)])
        for (file, code) in [(1000, nil), (999, .fileTooLarge)] as [(Int64, MultipartError.Code?)] {
            let reader = try MultipartReader(
                Upstream().chunks([Array(text.utf8)]),
                contentType: MultipartReaderTests.type,
                limits: ParserLimits(fileBytes: file, totalBytes: 10_000)
            )
            let error = await failure { try await Self.walk(reader) }
            #expect(error?.code == code)
        }
    }

    @Test func `Errors in an inner multipart have the body's offsets and name the parts around them`() async throws {
        let start = "--b\r\n" + Self.nested("in", "--in")
        let error = await failure { try await Self.walk(start + "X\r\n--b--\r\n") }
        #expect(error?.code == .invalidDelimiter && error?.byteOffset == Int64(start.utf8.count))
        let header = await failure { try await Self.walk(start + "\r\nX\r\n\r\n\r\n--b--\r\n") }
        #expect(header?.code == .invalidHeader && header?.byteOffset == Int64(start.utf8.count + 2))
        #expect(header?.part?.description == "\"album\" > #0")
    }

    @Test func `A multipart part without a boundary is an error where its parts are asked for`() async throws {
        let part = "Content-Disposition: form-data; name=a\r\nContent-Type: multipart/mixed\r\n\r\nv"
        let text = Self.multipart("b", [part])
        let error = await failure { try await Self.walk(text) }
        #expect(error?.code == .invalidBoundary && error?.part?.name == "a")
        for try await part in try MultipartReaderTests.reader(text) { #expect(try await part.text(upTo: 9) == "v") }
    }
}
