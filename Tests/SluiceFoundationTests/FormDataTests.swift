import Foundation
import Sluice
import SluiceFoundation
import SluiceTestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The form that takes the place of copied ones: what they do, done right.
@Suite struct FormDataTests {
    private let scratch: TemporaryDirectory
    private let url: URL

    init() throws {
        scratch = try TemporaryDirectory()
        url = try #require(URL(string: "http://127.0.0.1/upload"))
    }

    @Test("Code that speaks of fields and files sends what every parser takes apart again")
    func fieldsAndFiles() throws {
        let photo = Data(pattern(100_000))
        let request = uploadRequest(to: url, title: "Ferien \u{1F3D6}", photo: photo)
        for (_, parts) in try parts(of: request) {
            #expect(parts.map(\.name) == ["title", "photo"])
            #expect(parts.map(\.filename) == [nil, "beach.jpg"])
            #expect(parts.map(\.contentType) == [nil, "image/jpeg"])
            #expect(parts.map(\.size) == [11, 100_000])
            #expect(parts.last?.sha256 == (try digest(of: photo)))
        }
        let given = uploadRequest(to: url, fields: [("a", "1"), ("b", "2"), ("a", "")], boundary: "given:boundary")
        #expect(given.value(forHTTPHeaderField: "Content-Type") == "multipart/form-data; boundary=\"given:boundary\"")
        for (_, parts) in try parts(of: given) {
            #expect(parts.map(\.name) == ["a", "b", "a"])
            #expect(parts.map(\.size) == [1, 1, 0])
        }
    }

    @Test("Code that speaks of keys and values sends what every parser takes apart again")
    func keysAndValues() throws {
        let image = Data(pattern(1))
        let request = multipartRequest(to: url, parameters: ["user": "me"], image: image)
        for (_, parts) in try parts(of: request) {
            #expect(parts.map(\.name) == ["user", "file"])
            #expect(parts.map(\.filename) == [nil, "pic.png"])
            #expect(parts.map(\.contentType) == [nil, "image/png"])
            #expect(parts.last?.sha256 == (try digest(of: image)))
        }
        for (_, parts) in try parts(of: multipartRequest(to: url, text: "x")) {
            #expect(parts.map(\.name) == ["text"])
        }
    }

    @Test("The bytes are what RFC 7578 and the WHATWG's algorithm ask for")
    func bytes() {
        var form = FormData(boundary: "B")
        form.addField(name: "a", value: "1")
        form.add(key: "f", fileName: "x.txt", fileMimeType: "text/plain", fileData: Data("2".utf8))
        let expected = """
            --B\r
            Content-Disposition: form-data; name="a"\r
            \r
            1\r
            --B\r
            Content-Disposition: form-data; name="f"; filename="x.txt"\r
            Content-Type: text/plain\r
            \r
            2\r
            --B--\r

            """
        #expect(String(decoding: form.encode(), as: UTF8.self) == expected)
        #expect(form.httpBody == form.encode())
        #expect(form.boundary == "B")
        #expect(form.contentType == "multipart/form-data; boundary=B")
        #expect(form.httpContentTypeHeaderValue == form.contentType)
        #expect(form.httpContentTypeHeadeValue == form.contentType)
    }

    @Test("No name can fail or break out of its quotes", arguments: oddNames)
    func names(name: String, escapedName: String, escapedFilename: String) throws {
        var form = FormData()
        form.addField(name: name, value: "v")
        form.addFile(name: name, filename: name, mimeType: "text/plain", data: Data("v".utf8))
        #expect(form.problems.isEmpty)
        let text = String(decoding: form.encode(), as: UTF8.self)
        #expect(text.contains("; name=\"\(escapedName)\"\r\n\r\nv\r\n"))
        #expect(
            text.contains("; name=\"\(escapedName)\"; filename=\"\(escapedFilename)\"\r\nContent-Type: text/plain\r\n")
        )
        #expect(try form.body().data(upTo: .max) == form.encode())
    }

    /// Of the web platform tests' multipart-formdata cases, those that tell the escapings apart.
    private static let oddNames = [
        ("a\0b", "a\0b", "a\0b"), ("a\nb", "a%0D%0Ab", "a%0Ab"), ("a\rb", "a%0D%0Ab", "a%0Db"),
        ("a\r\nb", "a%0D%0Ab", "a%0D%0Ab"), ("a\n\rb", "a%0D%0A%0D%0Ab", "a%0A%0Db"), ("a\"b", "a%22b", "a%22b"),
        ("a\\b", "a\\b", "a\\b"), ("a'b", "a'b", "a'b"), ("\u{E1}", "\u{E1}", "\u{E1}"), ("", "", ""),
    ]

    @Test(
        "Newlines in values go out as CRLF, as from a browser",
        arguments: [("b\nc", "b\r\nc"), ("b\n\rc", "b\r\n\r\nc")]
    )
    func values(value: String, sent: String) {
        var form = FormData(boundary: "B")
        form.addField(name: "a", value: value)
        #expect(String(decoding: form.encode(), as: UTF8.self).contains("\r\n\r\n\(sent)\r\n--B--"))
    }

    @Test(
        "A MIME type that is none is sent as application/octet-stream and reported, and nothing is injected",
        arguments: ["", "text", "text/plain\r\nX-Injected: yes", "text/plain;", "a b/c", "text/plain; x=\"\n\""]
    )
    func mimeTypes(mimeType: String) throws {
        var form = FormData()
        form.addField(name: "first", value: "")
        form.addFile(name: "file", filename: "x.txt", mimeType: mimeType, data: Data("v".utf8))
        #expect(form.problems.map(\.code) == [.invalidMediaType])
        #expect(form.problems.first?.part == MultipartError.PartLabel(index: 1, name: "file"))
        for (_, parts) in try parse(form.encode(), form.contentType, in: scratch) {
            #expect(parts.map(\.contentType) == [nil, "application/octet-stream"])
            #expect(parts.map(\.size) == [0, 1])
        }
        #expect(!String(decoding: form.encode(), as: UTF8.self).contains("X-Injected"))
        let error = #expect(throws: MultipartError.self) { try form.body() }
        #expect(error?.code == .invalidMediaType)
    }

    @Test(
        "A boundary that is none is replaced by a random one and reported",
        arguments: ["", "ends in a space ", "a\r\nX-Injected: yes", "\"", "ü", String(repeating: "x", count: 71)]
    )
    func boundaries(boundary: String) throws {
        var form = FormData(boundary: boundary)
        form.addField(name: "a", value: "1")
        #expect(form.problems.map(\.code) == [.invalidBoundary])
        #expect(form.boundary != boundary)
        #expect(form.boundary != FormData(boundary: boundary).boundary)
        for (_, parts) in try parse(form.encode(), form.contentType, in: scratch) {
            #expect(parts.map(\.name) == ["a"])
        }
        let error = #expect(throws: MultipartError.self) { try form.body() }
        #expect(error?.code == .invalidBoundary)
    }

    @Test("The first of several problems is the one thrown")
    func manyProblems() {
        var form = FormData(boundary: "")
        form.addFile(name: "file", filename: "x", mimeType: "no", data: Data())
        form.addFile(name: "file", filename: "x", mimeType: "image/png", data: Data())
        form.addFile(name: "other", filename: "x", mimeType: "neither", data: Data())
        #expect(form.problems.map(\.code) == [.invalidBoundary, .invalidMediaType, .invalidMediaType])
        #expect(form.problems.map { $0.part?.index } == [nil, 0, 2])
        #expect(throws: MultipartError.self) { try form.body() }
    }

    @Test("The strict body finds a given boundary in what is sent", arguments: ["fixed", nil])
    func boundaryInContent(boundary: String?) throws {
        var form = boundary.map { FormData(boundary: $0) } ?? FormData()
        form.addFile(name: "f", filename: "x", mimeType: "text/plain", data: Data("\r\n--fixed\r\nforged".utf8))
        if boundary == nil {
            #expect(try form.body().data(upTo: .max) == form.encode())
        } else {
            let error = #expect(throws: MultipartError.self) { try form.body() }
            #expect(error?.code == .boundaryConflict)
        }
    }

    @Test("A form without parts is one that parsers take")
    func empty() throws {
        let form = FormData()
        #expect(form.encode() == Data("--\(form.boundary)--\r\n".utf8))
        #expect(form.problems.isEmpty)
    }

    @Test("A copy of a form is a form of its own")
    func value() {
        var first = FormData()
        first.addField(name: "a", value: "1")
        var second = first
        second.addField(name: "b", value: "2")
        #expect(first.encode().count < second.encode().count)
    }

    private func parts(of request: URLRequest) throws -> [String: [ParsedPart]] {
        let parsed = try parse(
            try #require(request.httpBody),
            try #require(request.value(forHTTPHeaderField: "Content-Type")),
            in: scratch
        )
        #expect(parsed.count == 3)
        return parsed
    }

    private func digest(of data: Data) throws -> String {
        let file = scratch.url.appendingPathComponent("digest-\(UUID().uuidString)")
        try data.write(to: file)
        return try ChildProcess.sha256(ofFile: file.path)
    }
}
