import Sluice
import SluiceTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct MultipartReaderTests {
    static let limits = ParserLimits(fileBytes: 1 << 30, totalBytes: 2 << 30)

    @Test(arguments: [1, 7, 1000])
    func `Parts come with their contents`(size: Int) async throws {
        let bytes = Array(MultipartParserTests.form.utf8)
        let upstream = Upstream().chunks(chunked(bytes, [size]))
        let reader = try MultipartReader(upstream, contentType: "multipart/form-data; boundary=b", limits: Self.limits)
        var seen: [String] = []
        for try await part in reader {
            if part.headers.isFile { continue }
            seen.append("\(part.headers.name ?? "-")=\(try await part.text(upTo: 100))")
        }
        #expect(seen == ["title=Holiday", "empty="])
    }

    @Test func `A content is saved`() async throws {
        let directory = try TemporaryDirectory()
        let bytes = Array(MultipartParserTests.form.utf8)
        let upstream = Upstream().chunks(chunked(bytes, [9]))
        let reader = try MultipartReader(upstream, contentType: "multipart/form-data; boundary=b", limits: Self.limits)
        for try await part in reader where part.headers.isFile {
            #expect(try await part.save(to: directory.path + "/x") == 21)
        }
        #expect(
            try TemporaryDirectory.contents(ofFile: directory.path + "/x")
                == Array("\r\n--\r\n\r\n--a\r\n--\r--b\r\n".utf8)
        )
    }
}
