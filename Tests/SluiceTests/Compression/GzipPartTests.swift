import Foundation
import Sluice
import SluiceTestSupport
import Testing

/// What a compressed part says of itself, and what receivers make of it.
@Suite(.timeLimit(.minutes(5))) struct GzipPartTests {
    private let content = GzipSamples.text(200_000)

    private func head(_ part: Part, subtype: MultipartForm.Subtype = .formData) throws -> String {
        var form = MultipartForm(subtype: subtype, boundary: try Boundary("b"))
        try form.append(part)
        let bytes = try form.body().bytes()
        let text = String(decoding: bytes.prefix(500), as: Unicode.ASCII.self)
        return text.components(separatedBy: "\r\n\r\n").first ?? ""
    }

    @Test(arguments: [
        (Part.file("f", bytes: [], filename: "log.txt"), "name=\"f\"; filename=\"log.txt.gz\""),
        (Part.file("f", bytes: [], filename: "log.gz"), "name=\"f\"; filename=\"log.gz.gz\""),
        (Part.file("f", bytes: [], filename: ""), "name=\"f\"; filename=\"f.gz\""),
        (Part.field("f", "text"), "name=\"f\"; filename=\"f.gz\""),
        (Part.file("f", path: "/proc/self/status"), "name=\"f\"; filename=\"status.gz\""),
    ])
    func `As a file it is named and typed so`(part: Part, disposition: String) throws {
        let expected = "--b\r\nContent-Disposition: form-data; \(disposition)\r\nContent-Type: application/gzip"
        #expect(try head(part.gzip()) == expected)
    }

    @Test func `Without a disposition there is only the type`() throws {
        let part = Part(disposition: nil, mediaType: .plainText, bytes: [1]).gzip()
        #expect(try head(part, subtype: .mixed) == "--b\r\nContent-Type: application/gzip")
    }

    @Test func `An attachment is named so, and one without a name is not`() throws {
        let named = Part(disposition: .attachment(filename: "a"), mediaType: nil, bytes: []).gzip()
        #expect(try head(named, subtype: .mixed).contains("attachment; filename=\"a.gz\"\r\n"))
        let nameless = Part(disposition: .attachment(), mediaType: nil, bytes: []).gzip()
        #expect(try head(nameless, subtype: .mixed).contains("attachment\r\n"))
    }

    @Test func `With the header it keeps its name and type`() throws {
        let part = Part.file(
            "f",
            bytes: [],
            filename: "log.txt",
            headers: [try HeaderField("X-A", "1")]
        ).gzip(mode: .contentEncoding)
        let expected =
            "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"log.txt\"\r\nContent-Type: text/plain\r\n"
            + "X-A: 1\r\nContent-Encoding: gzip"
        #expect(try head(part) == expected)
    }

    @Test(arguments: [-1, 10, Int.max, Int.min])
    func `A level that there is not is an error when the part is added`(level: Int) throws {
        var form = MultipartForm()
        let error = try #require(failure { try form.append(.field("n", "v").gzip(level: level)) })
        #expect(error.code == .invalidCompression && error.part?.name == "n" && error.reason.contains("\(level)"))
        #expect(form.parts.isEmpty)
        #expect(throwing(.invalidCompression) { try GzipSource(ScriptedSource([]), level: level) })
    }

    @Test(arguments: [0, -1, 32 * 1024 - 1, (64 << 20) + 1])
    func `So is a block size`(size: Int) throws {
        var form = MultipartForm()
        #expect(throwing(.invalidCompression) { try form.append(.field("n", "v").gzip(blockSize: size)) })
        #expect(throwing(.invalidCompression) { try GzipSource(ScriptedSource([]), blockSize: size) })
    }

    @Test(arguments: [0, -1, 257])
    func `So is a number of workers`(count: Int) throws {
        var form = MultipartForm()
        #expect(throwing(.invalidCompression) { try form.append(.field("n", "v").gzip(workers: .init(count))) })
    }

    @Test func `What is compressed twice is checked twice, and decompressed twice`() async throws {
        var form = MultipartForm(subtype: .mixed, boundary: try Boundary("b"))
        #expect(throwing(.invalidCompression) { try form.append(.field("n", "v").gzip(level: 11).gzip()) })
        var twice = Part(disposition: nil, mediaType: nil, bytes: content).gzip().gzip(level: 1)
        twice.mediaType = nil
        let outer = GzipSamples.unframed(try OnePart.body(twice).bytes())
        let inner = try #require(try await Gunzip.decompress([outer])[0])
        #expect(try await difference(#require(Gunzip.decompress([inner])[0]), content) == nil)
    }

    @Test(arguments: ["Content-Encoding", "content-encoding"])
    func `A second Content-Encoding is an error`(name: String) throws {
        let encoded = try HeaderField(name, "br")
        var form = MultipartForm()
        let part = Part.file("f", bytes: [], filename: "a", headers: [encoded])
        #expect(throwing(.invalidHeader) { try form.append(part.gzip(mode: .contentEncoding)) })
        // Also one that comes later.
        var late = Part.field("f", "v").gzip(mode: .contentEncoding)
        late.headers.insert(encoded, at: 0)
        #expect(throwing(.invalidHeader) { try form.append(late) })
        // Of a file, it says how the content was before: the caller's business.
        try form.append(part.gzip())
        #expect(form.parts.count == 1)
    }

    // MARK: Receivers

    @Test func `Receivers get a file that is a gzip file`() async throws {
        let form = try MultipartForm {
            Part.field("before", "1")
            Part.file("log", bytes: content, filename: "log.txt").gzip()
            Part.field("behind", "2")
        }
        let member = try GzipSamples.member(ScriptedSource(content))
        let sum = try await ForeignParsers.sha256(of: [member])[0]
        let outcomes = try await ForeignParsers.parse([form.body()])[0]
        for (parser, outcome) in outcomes {
            let parts = try #require(outcome.parts, "\(parser)")
            #expect(parts.map(\.name) == ["before", "log", "behind"])
            #expect(parts[1].filename == "log.txt.gz" && parts[1].contentType == "application/gzip")
            #expect(parts[1].sha256 == sum, "\(parser)")
        }
    }

    @Test(arguments: [MultipartForm.Subtype.mixed, .related])
    func `aiohttp undoes a Content-Encoding of gzip`(subtype: MultipartForm.Subtype) async throws {
        let contents = [content, [], GzipSamples.random(300_000)]
        var form = MultipartForm(subtype: subtype)
        for (index, content) in contents.enumerated() {
            try form.append(
                Part(disposition: .attachment(filename: "\(index)"), mediaType: .plainText, bytes: content)
                    .gzip(level: 3 * index, mode: .contentEncoding)
            )
        }
        let sums = try await ForeignParsers.sha256(of: contents)
        let parts = try #require(try await ForeignParsers.parse([form.body()])[0][.aiohttp]?.parts)
        #expect(parts.map(\.decodedSha256) == sums)
        #expect(parts.map(\.decodedSize) == contents.map(\.count))
        #expect(parts.map(\.filename) == ["0", "1", "2"] && parts.allSatisfy { $0.contentType == "text/plain" })
    }

    // MARK: Forms

    @Test(arguments: [Gzip.Length.unknown, .measured, .spooled(memoryLimit: 10)])
    func `A nested form is compressed whole`(length: Gzip.Length) async throws {
        let nested = try MultipartForm(subtype: .mixed, boundary: try Boundary("n")) {
            Part(disposition: .attachment(filename: "a"), mediaType: .plainText, bytes: content)
            Part(disposition: .attachment(filename: "b"), mediaType: .plainText, bytes: [1, 2, 3]).gzip()
        }
        var form = MultipartForm(boundary: try Boundary("b"))
        try form.append(Part.form("album", nested).gzip(mode: .contentEncoding, length: length))
        let body = try form.body()
        let bytes = try body.bytes()
        let head =
            "--b\r\nContent-Disposition: form-data; name=\"album\"\r\nContent-Type: multipart/mixed; boundary=n\r\n"
            + "Content-Encoding: gzip\r\n\r\n"
        #expect(bytes.starts(with: head.utf8))
        let member = Array(bytes.dropFirst(head.utf8.count).dropLast(OnePart.tail.count))
        let inner = try #require(try await Gunzip.decompress([member])[0])
        #expect(difference(inner, try nested.body().bytes()) == nil)
        #expect((body.contentLength == nil) == (length == .unknown))
    }

    @Test func `A nested form is no gzip file`() throws {
        var form = MultipartForm()
        let error = try #require(failure { try form.append(Part.form("album", MultipartForm()).gzip()) })
        #expect(error.code == .invalidCompression && error.reason.contains(".contentEncoding"))
    }

    @Test func `What fails in a nested form is named with the parts around it`() throws {
        let nested = try MultipartForm(subtype: .mixed) {
            Part(disposition: nil, mediaType: nil, source: ScriptedSource(content, failsAfter: 10))
        }
        var form = MultipartForm()
        try form.append(Part.form("album", nested).gzip(mode: .contentEncoding, workers: 1))
        let error = try #require(failure { try form.body().bytes() })
        #expect(error.code == .readFailed && error.description.hasPrefix("part \"album\" > #0: "))
    }
}
