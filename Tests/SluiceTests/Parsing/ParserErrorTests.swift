import Sluice
import SluiceTestSupport
import Testing

/// What an error of the parser's says.
@Suite struct ParserErrorTests {
    private static let statuses: [(MultipartError.Code, Int)] = [
        (.fieldTooLarge, 413), (.totalFieldsTooLarge, 413), (.fileTooLarge, 413), (.bodyTooLarge, 413),
        (.tooManyParts, 413),
        (.limitExceeded, 413), (.inflatedTooLarge, 413), (.inflatedTooMuch, 413), (.partHeadersTooLarge, 431),
        (.tooManyPartHeaders, 431), (.totalHeadersTooLarge, 431), (.tooManyParameters, 431), (.notMultipart, 415),
        (.fileExists, 409), (.invalidBoundary, 400), (.invalidHeader, 400), (.invalidMediaType, 400),
        (.nestingTooDeep, 400),
        (.unexpectedPreamble, 400), (.invalidDelimiter, 400), (.unexpectedEnd, 400), (.missingName, 400),
        (.invalidText, 400),
        (.paddingTooLong, 400), (.preambleTooLong, 400), (.invalidGzip, 400), (.outOfTurn, 500), (.writeFailed, 500),
        (.sourceFailed, 500), (.cancelled, 500),
    ]

    @Test(arguments: statuses)
    func `Each kind of error has the status of whose fault it is`(code: MultipartError.Code, status: Int) {
        #expect(MultipartError(code, "").suggestedStatus == status)
    }

    @Test func `Kinds of error are told apart`() {
        let codes = Self.statuses.map(\.0)
        #expect(Set(codes).count == codes.count && Set(codes.map(\.description)).count == codes.count)
    }

    @Test func `An error names the part and the byte, and forges no line of a log`() throws {
        let text = "--b\r\nContent-Disposition: form-data; name=\"a\u{85}\u{1B}[2Jb\"\r\n\r\nv\r\n--bX"
        let bytes = Array(text.utf8)
        let type = MultipartContentType(boundary: try Boundary("b"))
        let error = failure {
            try ParsedPart.parts(of: bytes, type, limits: ParserLimits(fileBytes: 1, totalBytes: 999))
        }
        #expect(error?.part?.index == 0 && error?.part?.name == "a\u{85}\u{1B}[2Jb")
        #expect(error?.byteOffset == Int64(bytes.count - 1))
        let description = try #require(error?.description)
        #expect(description.hasPrefix("part \"a") && description.contains("(at byte \(bytes.count - 1))"))
        #expect(!description.unicodeScalars.contains { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) })
    }

    @Test func `Before a part's name is known, an error has its place`() throws {
        let text = "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n--b\r\njunk\r\n\r\n"
        let error = failure {
            try ParsedPart.parts(
                of: Array(text.utf8),
                MultipartContentType(boundary: Boundary("b")),
                limits: ParserLimits(fileBytes: 1, totalBytes: 999)
            )
        }
        #expect(error?.part == MultipartError.PartLabel(index: 1, name: nil))
    }

    @Test func `The sugar hands on the same pieces, and what its closure throws ends it`() throws {
        struct Enough: Error {}
        let bytes = Array("--b\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--2\r\n--b--".utf8)
        let type = MultipartContentType(boundary: try Boundary("b"))
        let limits = ParserLimits(fileBytes: 1, totalBytes: 999)
        for size in [1, 1000] {
            var parser = MultipartParser(type, limits: limits)
            var log = ""
            func take(_ piece: borrowing MultipartParser.Piece) {
                switch piece {
                case .partBegan(let headers): log += "\(headers.name ?? "")="
                case .body(let span): unsafe span.withUnsafeBytes { unsafe log += String(decoding: $0, as: UTF8.self) }
                case .partEnded: log += ";"
                case .end: log += "."
                }
            }
            for chunk in Split.every(size, bytes) { try parser.parse(unsafe chunk.span.bytes, take) }
            try parser.finish(take)
            #expect(log == "a=1\r\n--2;.")
        }
        var parser = MultipartParser(type, limits: limits)
        var isThrown = false
        let slice = bytes[...]
        do {
            try parser.parse(unsafe slice.span.bytes) { _ in throw Enough() }
        } catch is Enough {
            isThrown = true
        }
        #expect(isThrown)
        #expect(failure { try parser.finish { _ in } }?.code == .outOfTurn)
    }
}
