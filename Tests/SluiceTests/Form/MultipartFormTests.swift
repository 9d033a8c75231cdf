import Sluice
import SluiceTestSupport
import Testing

@Suite struct MultipartFormTests {
    @Test func `Fields have no Content-Type, files always have one`() throws {
        // WHATWG HTML: the parts of entries that are no files "must not have a Content-Type header".
        var form = MultipartForm(boundary: try Boundary("b"))
        try form.addField(name: "a", value: "v")
        try form.addFile(name: "b", filename: "f", data: [])
        try form.addFile(name: "c", filename: "f.png", mimeType: "image/x-own; a=\"b\"", data: [])
        #expect(
            try form.body().text()
                == "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nv\r\n"
                + "--b\r\nContent-Disposition: form-data; name=\"b\"; filename=\"f\"\r\n"
                + "Content-Type: application/octet-stream\r\n\r\n\r\n"
                + "--b\r\nContent-Disposition: form-data; name=\"c\"; filename=\"f.png\"\r\n"
                + "Content-Type: image/x-own; a=\"b\"\r\n\r\n\r\n--b--\r\n"
        )
    }

    @Test(arguments: ["text/plain\r\nX: y", "text", ""])
    func `A file's type is checked when it is added`(type: String) {
        var form = MultipartForm()
        #expect(throwing(.invalidMediaType) { try form.addFile(name: "n", filename: "f", mimeType: type, data: []) })
        #expect(form.parts.isEmpty)
    }

    @Test func `A form-data part needs the disposition form-data and a name`() throws {
        // RFC 7578 section 4.2.
        var form = MultipartForm()
        let unfit: [ContentDisposition?] = [
            nil, .attachment(filename: "f"), try ContentDisposition(kind: "form-data"),
            try ContentDisposition(kind: "inline", name: "n"),
        ]
        for disposition in unfit {
            let part = Part(disposition: disposition, mediaType: nil, bytes: [])
            let error = try #require(throws: MultipartError.self) { try form.append(part) }
            #expect(error.code == .invalidForm)
            #expect(error.part?.index == 0)
        }
        // Disposition types are case-insensitive (RFC 2183 section 2), and an empty name is a name.
        try form.append(
            Part(disposition: try ContentDisposition(kind: "Form-Data", name: ""), mediaType: nil, bytes: [])
        )
        #expect(form.parts.count == 1)
    }

    @Test func `Other subtypes take any disposition and none`() throws {
        var form = MultipartForm(subtype: .mixed, boundary: try Boundary("b"))
        try form.append(Part(disposition: .attachment(filename: "f"), mediaType: .json, bytes: [91, 93]))
        try form.append(Part(disposition: nil, mediaType: .plainText, bytes: [65]))
        #expect(
            try form.body().text()
                == "--b\r\nContent-Disposition: attachment; filename=\"f\"\r\nContent-Type: application/json\r\n\r\n[]\r\n"
                + "--b\r\nContent-Type: text/plain\r\n\r\nA\r\n--b--\r\n"
        )
    }

    @Test(arguments: ["", "form data", "mixed;", "a/b", "a\r\nb", "\u{E9}", "mixed\0"])
    func `A subtype that is no token is refused`(text: String) {
        #expect(throwing(.invalidForm) { try MultipartForm.Subtype(text) })
    }

    @Test func `Subtypes are the same in upper and lower case`() throws {
        #expect(try MultipartForm.Subtype("MIXED") == .mixed)
        #expect(try MultipartForm.Subtype("Form-Data") == .formData)
        #expect(
            try MultipartForm(subtype: .init("x-own"), boundary: Boundary("b")).contentType
                == "multipart/x-own; boundary=b"
        )
    }

    @Test func `Parameters are quoted where they have to be, and come before the boundary`() throws {
        var form = MultipartForm(subtype: .mixed, boundary: try Boundary("b"))
        try form.addParameter(name: "a", value: "token")
        try form.addParameter(name: "c", value: "no token")
        try form.addParameter(name: "d", value: "\"\\")
        try form.addParameter(name: "e", value: "")
        #expect(
            form.contentType
                == #"multipart/mixed; a=token; c="no token"; d="\"\\"; e=""; boundary=b"#
        )
    }

    @Test(arguments: [
        ("", "v"), ("a b", "v"), ("a=", "v"), ("a\r\nb", "v"), ("boundary", "v"), ("BOUNDARY", "v"), ("a", "v\r\nb"),
        ("a", "\n"),
        ("a", "\r"), ("a", "\0"), ("start", "v"), ("Start", "v"),
    ])
    func `A parameter that is malformed or there already is refused`(name: String, value: String) throws {
        var form = MultipartForm(subtype: .related)
        try form.addParameter(name: "start", value: "<a@b>")
        #expect(throwing(.invalidHeader) { try form.addParameter(name: name, value: value) })
        #expect(form.parameters.count == 1)
    }

    @Test func `A related form names the media type of its root without its parameters`() throws {
        // RFC 2387 section 3.4: `";" "type" "=" type "/" subtype`.
        var form = MultipartForm(subtype: .related, boundary: try Boundary("b"))
        #expect(form.contentType == "multipart/related; boundary=b")
        try form.append(Part(disposition: nil, mediaType: try MediaType("text/html; charset=utf-8"), bytes: []))
        try form.append(Part(disposition: nil, mediaType: .json, bytes: []))
        #expect(form.contentType == "multipart/related; type=\"text/html\"; boundary=b")
        try form.addParameter(name: "Type", value: "application/xop+xml")
        #expect(form.contentType == "multipart/related; Type=\"application/xop+xml\"; boundary=b")
    }

    @Test func `A related form whose root has no type says text/plain, the default of MIME`() throws {
        // RFC 2045 section 5.2.
        var form = MultipartForm(subtype: .related, boundary: try Boundary("b"))
        try form.append(Part(disposition: nil, mediaType: nil, bytes: []))
        #expect(form.contentType == "multipart/related; type=\"text/plain\"; boundary=b")
    }

    @Test func `A body is of the form as it was`() throws {
        var form = MultipartForm(boundary: try Boundary("b"))
        let empty = try form.body()
        try form.addField(name: "n", value: "v")
        #expect(try empty.text() == "--b--\r\n")
        #expect(try form.body().parts.map(\.description) == ["\"n\""])
    }
}

/// RFC 7578 section 4.1: the delimiter must not occur in a part.
@Suite struct MemorySearchTests {
    private func body(_ content: String, checks: Bool = true, before: [Part] = []) throws -> MultipartBody {
        var form = MultipartForm(boundary: try Boundary("b0"))
        form.checksMemoryForBoundary = checks
        for part in before { try form.append(part) }
        try form.addFile(name: "n", filename: "f", data: Array(content.utf8))
        return try form.body()
    }

    @Test(arguments: [
        "--b0", "--b0--", "--b0\r\n", "--b0x", "\r\n--b0", "a\r\n--b0", "a\r\n--b0--\r\nz", "\r\r\n--b0",
        "\r\n\r\n--b0z",
        "\r\n--b\r\n--b0", "a\r\n--b0 \t",
    ])
    func `Content that holds the delimiter is found where the form is asked to look`(content: String) throws {
        let error = try #require(throws: MultipartError.self) { try body(content, before: [.field("first", "v")]) }
        #expect(error.code == .boundaryConflict)
        #expect(error.part?.description == "\"n\"")
        #expect(try body(content, checks: false).contentLength != nil)
    }

    @Test(arguments: [
        "", "-", "--", "--b", "b0", "a--b0", " --b0", "\n--b0", "\r--b0", "\r\n--b", "\r\n -b0", "\r\n--B0",
        "\r\n--b\r\n0", "-\r\n-b0",
        "\r\n--", "\r\n--b\r",
    ])
    func `Content that only looks like it is left alone`(content: String) throws {
        #expect(try body(content).contentLength != nil)
    }

    @Test func `Text fields are searched as they are sent`() throws {
        // The html escaping makes the line end of the delimiter out of a lone LF.
        for (escaping, isFound) in [(NameEscaping.html, true), (.percent, false)] {
            var form = MultipartForm(boundary: try Boundary("b0"), escaping: escaping)
            form.checksMemoryForBoundary = true
            try form.addField(name: "n", value: "a\n--b0")
            #expect(throwing(.boundaryConflict) { try form.body() } == isFound)
        }
    }

    @Test func `Nested forms are searched for the delimiters around them`() throws {
        var inner = MultipartForm(subtype: .mixed, boundary: try Boundary("inner"))
        try inner.append(Part(disposition: nil, mediaType: nil, bytes: Array("a\r\n--b0".utf8)))
        #expect(throwing(.boundaryConflict) { try body("", before: [.form("nested", inner)]) })
        #expect(try body("", checks: false, before: [.form("nested", inner)]).contentLength != nil)
    }
}
