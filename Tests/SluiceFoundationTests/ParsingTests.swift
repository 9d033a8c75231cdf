import Foundation
import Sluice
import SluiceFoundation
import SluiceTestSupport
import Testing

/// The engine's reader over chunks that are `Data`.
@Suite(.timeLimit(.minutes(2))) struct ParsingTests {
    @Test(arguments: [1, 5, 1000])
    func `A body in chunks of Data has parts whose contents are Data`(size: Int) async throws {
        let text = "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n12\r\n--34\r\n--b--\r\n"
        let chunks = chunked(Array(text.utf8), [size]).map { Data([0, 0] + $0).dropFirst(2) }
        let limits = ParserLimits(fileBytes: 100, totalBytes: 1000)
        var content = Data()
        let type = "multipart/form-data; boundary=b"
        for try await part in try MultipartReader(stream(of: chunks), contentType: type, limits: limits) {
            for try await slice in part.body { content += slice as Data }
        }
        #expect(content == Data("12\r\n--34".utf8))
    }
}
