import Sluice
import SluiceTestSupport
import Testing

@Suite struct PartsBuilderTests {
    private func names(_ form: MultipartForm) -> [String?] { form.parts.map { $0.disposition?.name } }

    @Test(arguments: [0, 1, 2])
    func `A builder takes if, else, switch, for and lists`(number: Int) throws {
        let made = [Part.field("made", ""), .field("made2", "")]
        let form = try MultipartForm {
            Part.field("first", "")
            if number == 0 { Part.field("zero", "") }
            if number > 1 {
                Part.field("many", "")
                Part.field("more", "")
            } else {
                Part.field("few", "")
            }
            switch number {
            case 0: Part.field("case0", "")
            case 1: Part.field("case1", "")
            default:
                for place in 0..<number { Part.field("place\(place)", "") }
            }
            for _ in 0..<0 { Part.field("never", "") }
            let last = Part.field("last", "")
            made
            last
        }
        let expected: [[String]] = [
            ["first", "zero", "few", "case0", "made", "made2", "last"],
            ["first", "few", "case1", "made", "made2", "last"],
            ["first", "many", "more", "place0", "place1", "made", "made2", "last"],
        ]
        #expect(names(form) == expected[number])
    }

    @Test func `An empty builder makes an empty form`() throws {
        #expect(try MultipartForm(boundary: Boundary("b")) {}.body().text() == "--b--\r\n")
    }

    @Test func `A part that does not fit is refused by name`() throws {
        let error = try #require(throws: MultipartError.self) {
            try MultipartForm {
                Part.field("fits", "")
                Part.field("does\0not", "")
            }
        }
        #expect(error.code == .invalidName)
        #expect(error.part?.index == 1)
    }

    @Test func `What the builder throws comes out as it is`() throws {
        let error = try #require(throws: MultipartError.self) {
            try MultipartForm { () throws(MultipartError) in
                Part.file("f", bytes: [], filename: "f", mediaType: try MediaType("nonsense"))
            }
        }
        #expect(error.code == .invalidMediaType)
    }
}
