import Sluice
import SluiceTestSupport
import Testing

@Suite struct NestedFormTests {
    private func mixed(_ boundary: String, _ parts: [Part] = []) throws -> MultipartForm {
        try MultipartForm(subtype: .mixed, boundary: Boundary(boundary)) { parts }
    }

    private let bare = Part(disposition: nil, mediaType: nil, bytes: [65])

    @Test func `A nested form is the content of a part with its own Content-Type`() throws {
        var form = MultipartForm(boundary: try Boundary("outer"))
        try form.append(.form("album", try mixed("in:ner", [bare, .field("n", "v")])))
        #expect(
            try form.body().text() == """
                --outer\r
                Content-Disposition: form-data; name="album"\r
                Content-Type: multipart/mixed; boundary="in:ner"\r
                \r
                --in:ner\r
                \r
                A\r
                --in:ner\r
                Content-Disposition: form-data; name="n"\r
                \r
                v\r
                --in:ner--\r
                \r
                --outer--\r

                """
        )
    }

    @Test func `An empty nested form is its close-delimiter`() throws {
        var form = MultipartForm(boundary: try Boundary("o"))
        try form.append(.form("n", try mixed("i")))
        #expect(
            try form.body().text()
                == "--o\r\nContent-Disposition: form-data; name=\"n\"\r\nContent-Type: multipart/mixed; boundary=i\r\n\r\n"
                + "--i--\r\n\r\n--o--\r\n"
        )
        #expect(try form.body().parts.isEmpty)
    }

    @Test func `The nested form's escaping, the outer one's for the part around it`() throws {
        var inner = MultipartForm(subtype: .mixed, boundary: try Boundary("i"), escaping: .backslash)
        try inner.append(.field("a\"b", "v\n"))
        var form = MultipartForm(boundary: try Boundary("o"), escaping: .html)
        try form.append(.form("c\"d", inner))
        let text = try form.body().text()
        #expect(text.contains("name=\"c%22d\"") && text.contains("name=\"a\\\"b\"\r\n\r\nv\n\r\n--i--"))
    }

    @Test(arguments: [("o", "o"), ("o", "o1"), ("outer", "outer-inner"), ("-", "-b"), ("o", "o ' x")])
    func `A nested boundary that begins with the outer one is refused`(outer: String, inner: String) throws {
        // RFC 2046 section 5.1.2.
        var form = MultipartForm(boundary: try Boundary(outer))
        try form.append(.form("n", try mixed(inner, [bare])))
        let error = try #require(throws: MultipartError.self) { try form.body() }
        #expect(error.code == .boundaryConflict)
        #expect(error.part?.name == "n")
    }

    @Test(arguments: [("outer", "o"), ("o", "O"), ("b", "-b"), ("o1", "o"), ("o", "xo")])
    func `Any other nested boundary will do`(outer: String, inner: String) throws {
        var form = MultipartForm(boundary: try Boundary(outer))
        try form.append(.form("n", try mixed(inner, [bare])))
        #expect(try form.body().parts.count == 1)
    }

    @Test func `Grandchildren and siblings are compared with all forms around them, and only with those`() throws {
        let grandchild = try mixed("a-deep", [bare])
        let child = try mixed("b", [.form("grandchild", grandchild)])
        var form = MultipartForm(boundary: try Boundary("a"))
        try form.append(.form("child", child))
        let error = try #require(throws: MultipartError.self) { try form.body() }
        #expect(error.code == .boundaryConflict)
        #expect(error.part?.description == "\"child\" > \"grandchild\"")

        var siblings = MultipartForm(boundary: try Boundary("a"))
        for _ in 0..<2 { try siblings.append(.form("n", try mixed("b", [bare]))) }
        #expect(try siblings.body().parts.count == 2)
    }

    @Test func `Nested parts are named with the parts around them`() throws {
        var form = MultipartForm(boundary: try Boundary("a"))
        try form.append(.field("first", ""))
        try form.append(.form("album", try mixed("b", [bare, .form("inner", try mixed("c", [.field("x", "")]))])))
        try form.append(.field("last", ""))
        let labels = try form.body().parts
        #expect(
            labels.map(\.description) == ["\"first\"", "\"album\" > #0", "\"album\" > \"inner\" > \"x\"", "\"last\""]
        )
        #expect(labels.map(\.index) == [0, 0, 0, 2])
        #expect(labels[2].enclosing.count == 2)
    }

    /// A form with as many forms in one another, itself counted.
    private func nest(_ depth: Int, _ subtype: MultipartForm.Subtype) throws -> MultipartForm {
        var form = MultipartForm(subtype: subtype, boundary: try Boundary("depth0"))
        try form.append(.field("n", "v"))
        for level in 1..<depth {
            var outer = MultipartForm(subtype: subtype, boundary: try Boundary("depth\(level).\(level)"))
            try outer.append(.form("n", form))
            form = outer
        }
        return form
    }

    @Test func `Forms may be nested forty deep and no deeper`() throws {
        #expect(try nest(40, .mixed).body().parts.count == 1)
        #expect(throwing(.nestingTooDeep) { try nest(41, .mixed).body() })
        #expect(throwing(.nestingTooDeep) { try nest(100, .mixed).body() })
    }

    @Test func `Related forms in one another do not grow their types without end`() throws {
        let body = try nest(40, .related).body()
        #expect(body.contentType == "multipart/related; type=\"multipart/related\"; boundary=depth39.39")
        #expect(try #require(body.contentLength) < 40 * 300)
    }
}
