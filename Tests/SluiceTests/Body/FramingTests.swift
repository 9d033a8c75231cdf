import Sluice
import SluiceTestSupport
import Testing

/// What stands between the parts, compared with an encoder that was written from RFC 2046 and shares no code.
@Suite struct FramingTests {
    @Test func `An empty form is the close-delimiter alone`() throws {
        let form = MultipartForm(boundary: try Boundary("b"))
        #expect(try form.body().text() == "--b--\r\n")
        #expect(try form.body().contentLength == 7)
    }

    @Test func `A part is a delimiter line, its headers, an empty line and its content`() throws {
        var form = MultipartForm(boundary: try Boundary("AaB03x"))
        try form.addField(name: "field1", value: "Joe owes =E2=82=AC100.")
        try form.addFile(name: "pics", filename: "file1.txt", data: Array("contents".utf8))
        // The example of RFC 7578 section 4.1 ff., in the order of headers that browsers have.
        #expect(
            try form.body().text() == """
                --AaB03x\r
                Content-Disposition: form-data; name="field1"\r
                \r
                Joe owes =E2=82=AC100.\r
                --AaB03x\r
                Content-Disposition: form-data; name="pics"; filename="file1.txt"\r
                Content-Type: text/plain\r
                \r
                contents\r
                --AaB03x--\r

                """
        )
    }

    @Test func `A part without headers is an empty line and its content`() throws {
        // RFC 2046 section 5.1: "NO header fields are actually required in body parts".
        var form = MultipartForm(subtype: .mixed, boundary: try Boundary("b"))
        try form.append(Part(disposition: nil, mediaType: nil, bytes: [65]))
        try form.append(Part(disposition: nil, mediaType: nil, bytes: []))
        #expect(try form.body().text() == "--b\r\n\r\nA\r\n--b\r\n\r\n\r\n--b--\r\n")
    }

    @Test func `Parts of one name stay apart and in order`() throws {
        // RFC 7578 section 5.2.
        var form = MultipartForm(boundary: try Boundary("b"))
        for value in ["2", "1", "2"] { try form.addField(name: "n", value: value) }
        let expected = ["2", "1", "2"].map { ReferencePart.formData(name: "n", content: Array($0.utf8)) }
        #expect(try difference(form.body().bytes(), ReferenceEncoder.encode(boundary: "b", expected)) == nil)
    }

    @Test(arguments: seeds(fixed: 300, fresh: 100))
    func `Random forms come out as the reference encoder writes them`(seed: UInt64) throws {
        var forms = RandomForm(seed: seed, sources: RandomForm.plainSources)
        let (form, expected, contentType) = try forms.next()
        let body = try form.body()
        #expect(body.contentType == contentType)
        #expect(body.contentLength == nil || body.contentLength == Int64(expected.count))
        #expect(try difference(body.bytes(), expected) == nil, "seed \(seed)")
    }

    @Test(arguments: seeds(fixed: 20, fresh: 10))
    func `The content of each part lies where the body says`(seed: UInt64) throws {
        var forms = RandomForm(seed: seed, sources: [RandomForm.plainSources[0], RandomForm.plainSources[1]])
        let (form, expected, _) = try forms.next()
        let body = try form.body()
        #expect(body.contentLength == Int64(expected.count))
        #expect(body.contentRanges.count == body.parts.count)
        for range in body.contentRanges {
            let range = try #require(range)
            // Behind the empty line of the head, before the line end of a delimiter.
            #expect(Array(expected[Int(range.lowerBound) - 4..<Int(range.lowerBound)]) == [13, 10, 13, 10])
            #expect(Array(expected[Int(range.upperBound)..<Int(range.upperBound) + 4]) == Array("\r\n--".utf8))
        }
    }
}
