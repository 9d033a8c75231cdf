import Sluice
import SluiceTestSupport
import Testing

@Suite struct ContentDispositionTests {
    @Test func `The name comes first, and both are always quoted`() throws {
        #expect(try ContentDisposition.formData(name: "n").headerValue() == "form-data; name=\"n\"")
        #expect(
            try ContentDisposition.formData(name: "n", filename: "f").headerValue()
                == "form-data; name=\"n\"; filename=\"f\""
        )
    }

    @Test func `An empty filename is sent, a missing one is not`() throws {
        #expect(
            try ContentDisposition.formData(name: "", filename: "").headerValue()
                == "form-data; name=\"\"; filename=\"\""
        )
        #expect(try ContentDisposition.formData(name: "").headerValue() == "form-data; name=\"\"")
    }

    @Test func `An extended filename parameter is never sent`() throws {
        // RFC 7578 section 4.2: the encoding of RFC 5987 must not be used.
        let value = try ContentDisposition.formData(name: "n", filename: "\u{20AC}.txt").headerValue()
        #expect(value == "form-data; name=\"n\"; filename=\"\u{20AC}.txt\"")
    }

    @Test func `Attachments and other kinds are written as they are`() throws {
        #expect(try ContentDisposition.attachment().headerValue() == "attachment")
        #expect(try ContentDisposition.attachment(filename: "f").headerValue() == "attachment; filename=\"f\"")
        #expect(try ContentDisposition(kind: "inline").headerValue() == "inline")
        #expect(try ContentDisposition(kind: "inline", filename: "f").headerValue() == "inline; filename=\"f\"")
    }

    @Test(arguments: ["", " ", "form data", "inline;", "a\r\nb", "a\0", "\u{E9}", "a=b", "\"a\"", "a/b"])
    func `A kind that is no token is refused`(kind: String) {
        #expect(throwing(.invalidHeader) { try ContentDisposition(kind: kind) })
    }

    @Test func `Name and filename may be changed, and are checked when the part is added`() throws {
        var part = Part.field("a", "v")
        part.disposition?.name = "b"
        part.disposition?.filename = "c"
        var form = MultipartForm(boundary: try Boundary("B"))
        try form.append(part)
        #expect(
            try form.body().text()
                == "--B\r\nContent-Disposition: form-data; name=\"b\"; filename=\"c\"\r\n\r\nv\r\n--B--\r\n"
        )
        part.disposition?.name = "b\0"
        #expect(throwing(.invalidName) { try form.append(part) })
    }
}
