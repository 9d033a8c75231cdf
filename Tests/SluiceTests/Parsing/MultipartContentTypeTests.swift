import Sluice
import SluiceTestSupport
import Testing

/// The boundary and subtype of a Content-Type.
@Suite struct MultipartContentTypeTests {
    @Test(arguments: [
        ("multipart/form-data; boundary=a", "a"), ("multipart/form-data;boundary=a", "a"),
        ("Multipart/Form-Data ; BOUNDARY=a", "a"),
        ("multipart/form-data; boundary=\"a\"", "a"), ("multipart/form-data; charset=utf-8; boundary=a", "a"),
        ("multipart/form-data; boundary=a; charset=utf-8", "a"), ("multipart/form-data; boundary=\"a b\"", "a b"),
        ("multipart/form-data; boundary=\"'()+_,-./:=?\"", "'()+_,-./:=?"), ("multipart/form-data; boundary=A", "A"),
        ("multipart/form-data; xboundary=b; boundary=a", "a"),
        ("multipart/form-data; x=\"; boundary=b\"; boundary=a", "a"),
        ("  multipart/form-data;\tboundary=a  ", "a"), ("multipart/form-data; boundary=a;", "a"),
        ("multipart/form-data; boundary=\"\\a\"", "a"),
        ("multipart/form-data; boundary=----WebKitFormBoundaryx", "----WebKitFormBoundaryx"),
    ])
    func `A boundary is found in any order, case and quotes`(value: String, boundary: String) throws {
        let type = try MultipartContentType(value)
        #expect(type.boundary.description == boundary && type.subtype == .formData)
    }

    @Test(arguments: [
        "multipart/form-data", "multipart/form-data; charset=utf-8", "multipart/form-data; boundary=a; boundary=b",
        "multipart/form-data; boundary=a; Boundary=a", "multipart/form-data; boundary=\"\"",
        "multipart/form-data; boundary=\"a \"",
        "multipart/form-data; xboundary=a", "multipart/form-data; boundary=\"a;b\"",
        "multipart/form-data; boundary=\"a\r\nb\"",
        "multipart/form-data; boundary=\"a\0b\"", "multipart/form-data; boundary=\"\\\"\"",
        "multipart/form-data; boundary=\"\u{E9}\"",
        "multipart/form-data; boundary*=UTF-8''a", "multipart/form-data; boundary=a#b",
    ])
    func `A missing, doubled or impossible boundary is an error`(value: String) {
        let error = failure { try MultipartContentType(value) }
        #expect(error?.code == .invalidBoundary && error?.suggestedStatus == 400)
    }

    @Test(arguments: [
        "multipart/form-data; boundary = a", "multipart/form-data; boundary=\"a", "multipart/form-data; boundary=a,b",
        "multipart/form-data; boundary=", "multipart/form-data; boundary", "multipart/form-data boundary=a",
        "multipart/",
        "multipart", "", " ", "/form-data; boundary=a", "multipart/form-data, boundary=a",
        "multipart /form-data; boundary=a",
        "multipart/form-data; boundary=a\r\nX: y", "multipart/form-data; boundary=a b",
        "multipart/form-data" + String(repeating: ";", count: 100_000),
    ])
    func `A value that is malformed is an error`(value: String) {
        let error = failure { try MultipartContentType(value) }
        #expect(error?.code == .invalidMediaType && error?.suggestedStatus == 400)
    }

    @Test(arguments: [
        "application/x-www-form-urlencoded", "text/plain; boundary=a", "multiparts/form-data; boundary=a",
    ])
    func `Another type is an error of its own`(value: String) {
        let error = failure { try MultipartContentType(value) }
        #expect(error?.code == .notMultipart && error?.suggestedStatus == 415)
    }

    /// About the sizes of other parsers' buffers and counters.
    static let lengths = [
        0, 1, 69, 70, 71, 255, 256, 257, 4092, 4093, 4094, 4095, 4096, 4097, 5115, 5116, 5117, 65_536,
    ]

    @Test(arguments: lengths)
    func `A boundary has 1 to 70 characters`(length: Int) throws {
        let boundary = String(repeating: "a", count: length)
        for value in [boundary, "\"\(boundary)\""] {
            let error = failure { try MultipartContentType("multipart/form-data; boundary=\(value)") }
            #expect((error == nil) == (1...70).contains(length))
        }
    }

    @Test(arguments: [
        ("multipart/mixed", "mixed"), ("multipart/X-Own", "x-own"), ("MULTIPART/BYTERANGES", "byteranges"),
    ])
    func `Subtypes are lowercase`(type: String, subtype: String) throws {
        #expect(try MultipartContentType("\(type); boundary=a").subtype.description == subtype)
    }

    @Test func `What the encoder writes is read`() throws {
        for text in ["a", "a b", "'()+_,-./:=?z", String(repeating: "=", count: 70), "--"] {
            let form = MultipartForm(subtype: .related, boundary: try Boundary(text))
            let type = try MultipartContentType(form.contentType)
            #expect(type.boundary == form.boundary && type.subtype == .related)
        }
    }
}
