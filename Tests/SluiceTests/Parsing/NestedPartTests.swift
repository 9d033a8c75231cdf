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

    /// A body of a multipart with two parts, a file of 1000 bytes, and fields.
    private static let bodyToPass = Array(
        multipart(
            "b",
            [
                nested("in", multipart("in", ["\r\n1", "\r\n2"])),
                "Content-Disposition: form-data; name=f; filename=f\r\n\r\n\(String(repeating: "v", count: 1000))",
            ] + Array(repeating: field + "3", count: 8)
        ).utf8
    )

    /// The error that comes in place of the next element.
    private static func nextError<Iterator: AsyncIteratorProtocol>(of iterator: inout Iterator) async -> MultipartError?
    {
        do {
            _ = try await iterator.next(isolation: nil)
            return nil
        } catch {
            return error as? MultipartError
        }
    }

    /// Its reader, with it in one chunk, so that each reader has all of its own content ahead.
    private static func readerToPass(
        fileBytes: Int64 = 100,
        partCount: Int = 100
    ) throws -> MultipartReader<Upstream.Chunks> {
        var limits = ParserLimits(fileBytes: fileBytes, totalBytes: 10_000)
        // A part without a filename is a field, also where it is a multipart.
        limits.fieldBytes = fileBytes
        limits.partCount = partCount
        return try MultipartReader(
            Upstream().chunks([bodyToPass]),
            contentType: MultipartReaderTests.type,
            limits: limits
        )
    }

    @Test func `A reader of a part that was passed is refused, and lifts no other part's limit`() async throws {
        var outer = try Self.readerToPass().makeAsyncIterator()
        let parts = try #require(try await outer.next()?.parts())
        let file = try #require(try await outer.next())
        var inner = parts.makeAsyncIterator()
        let error = await Self.nextError(of: &inner)
        #expect(error?.code == .outOfTurn && error?.part?.name == "album")
        #expect(await failure { try await file.collect(upTo: 10_000) }?.code == .fileTooLarge)
    }

    @Test func `A part that is read already has no reader of its parts, and keeps its limit`() async throws {
        var outer = try Self.readerToPass(fileBytes: 10).makeAsyncIterator()
        let part = try #require(try await outer.next())
        var content = part.body.makeAsyncIterator()
        var inner = try #require(try part.parts()).makeAsyncIterator()
        #expect(await Self.nextError(of: &inner)?.code == .outOfTurn)
        // The limit's ten bytes come out, and then the error.
        #expect(try await content.next()?.count == 10)
        #expect(await Self.nextError(of: &content)?.code == .fieldTooLarge)
    }

    @Test func `A reader that is left behind in the middle is refused, and takes back nothing that was counted`()
        async throws
    {
        // Ten parts of the body, and one of the two in the first; the limit is passed with the last.
        var outer = try Self.readerToPass(fileBytes: 1000, partCount: 10).makeAsyncIterator()
        var inner = try #require(try await outer.next()?.parts()).makeAsyncIterator()
        let first = try #require(try await inner.next())
        for _ in 0..<4 { _ = try await outer.next() }
        let error = await Self.nextError(of: &inner)
        #expect(error?.code == .outOfTurn && error?.part?.name == "album")
        #expect(await failure { try await first.text(upTo: 9) }?.code == .outOfTurn)
        // Of the ten, the album, the one in it, and four were counted.
        for _ in 0..<4 { #expect(try await outer.next() != nil) }
        #expect(await Self.nextError(of: &outer)?.code == .tooManyParts)
    }

    @Test func `A reader at its end stays there, whatever is read behind it`() async throws {
        var outer = try Self.readerToPass(fileBytes: 1000).makeAsyncIterator()
        var inner = try #require(try await outer.next()?.parts()).makeAsyncIterator()
        while let part = try await inner.next() { #expect(try await part.text(upTo: 1).count == 1) }
        _ = try await outer.next()
        #expect(try await inner.next() == nil)
    }

    @Test func `A multipart part without a boundary is an error where its parts are asked for`() async throws {
        let part = "Content-Disposition: form-data; name=a\r\nContent-Type: multipart/mixed\r\n\r\nv"
        let text = Self.multipart("b", [part])
        let error = await failure { try await Self.walk(text) }
        #expect(error?.code == .invalidBoundary && error?.part?.name == "a")
        for try await part in try MultipartReaderTests.reader(text) { #expect(try await part.text(upTo: 9) == "v") }
    }
}
