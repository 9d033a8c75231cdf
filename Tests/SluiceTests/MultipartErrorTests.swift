import Glibc
import Sluice
import SluiceTestSupport
import Testing

@Suite struct MultipartErrorTests {
    private typealias Label = MultipartError.PartLabel

    @Test func `An error names the part, the path, the reason and the system's words`() {
        let error = MultipartError(
            .readFailed,
            "reading failed",
            part: .init(index: 2, name: "film"),
            path: "/data/film.mkv",
            errno: EIO
        )
        #expect(
            error.description
                == "part \"film\": /data/film.mkv: reading failed (Input/output error, errno \(EIO))"
        )
        #expect("\(error)" == error.description)
    }

    @Test func `An error with a code and a reason alone is the reason`() {
        let error = MultipartError(.cancelled, "the read was cancelled")
        #expect(error.description == "the read was cancelled")
        #expect(error.part == nil && error.path == nil && error.errno == nil && error.underlyingError == nil)
    }

    @Test func `A part without a name goes by its place`() {
        #expect(Label(index: 0, name: nil).description == "#0")
        #expect(Label(index: 7, name: "").description == "\"\"")
        #expect(Label(index: 1, name: "x", enclosing: ["\"album\"", "#3"]).description == "\"album\" > #3 > \"x\"")
    }

    /// Unicode's general category Cc, and its two line separators, which some viewers of logs take for a new line.
    static let controls: [UInt32] = Array(0...0x1F) + Array(0x7F...0x9F) + [0x2028, 0x2029]

    @Test(arguments: controls)
    func `A control character in a name, path or foreign error cannot forge a line of a log`(value: UInt32) throws {
        let control = String(try #require(Unicode.Scalar(value)))
        let error = MultipartError(
            .sourceFailed,
            "the source failed",
            part: .init(index: 0, name: "a\(control)b"),
            path: "/c\(control)d",
            underlyingError: Foreign(description: "e\(control)f")
        )
        #expect(!error.description.unicodeScalars.contains { $0.value == value })
        for text in ["a", "b", "/c", "d", "e", "f"] { #expect(error.description.contains(text)) }
    }

    @Test(arguments: ["a", "\u{E9}", "\u{1F4A9}", "a b", "\\", "\u{A0}"])
    func `Anything else in a name is shown as it is`(name: String) {
        #expect(Label(index: 0, name: name).description == "\"\(name)\"")
    }

    @Test func `What the caller gave is kept as it was, only descriptions are escaped`() {
        let error = MultipartError(.openFailed, "reason", part: .init(index: 0, name: "a\nb"), path: "/a\nb")
        #expect(error.part?.name == "a\nb" && error.path == "/a\nb")
        #expect(!error.description.contains("\n"))
    }

    @Test(arguments: ["a\nb\0", "\u{9B}31m\0", "\r\n\0"])
    func `Errors about names show them escaped`(name: String) throws {
        var form = MultipartForm()
        let errors = [
            failure(of: { try form.addField(name: name, value: "") }),
            failure(of: { try HeaderField(name, "") }),
            failure(of: { try MediaType(name) }),
            failure(of: { try Boundary(name) }),
            failure(of: { try MultipartForm.Subtype(name) }),
            failure(of: { try ContentDisposition(kind: name) }),
            failure(of: { try form.addParameter(name: name, value: "") }),
        ]
        for error in errors {
            let description = try #require(error).description
            #expect(!description.unicodeScalars.contains { Self.controls.contains($0.value) })
        }
    }

    @Test func `Codes are told apart and have their own names`() {
        let codes: [MultipartError.Code] = [
            .invalidBoundary, .boundaryConflict, .invalidName, .invalidHeader, .invalidMediaType, .invalidForm,
            .notReadable,
            .openFailed, .readFailed, .writeFailed, .connectionClosed, .fileShrank, .fileChanged, .lengthMismatch,
            .notReplayable, .invalidRange, .unknownLength, .sourceFailed, .limitExceeded, .nestingTooDeep, .cancelled,
            .resourcesExhausted,
        ]
        #expect(Set(codes).count == codes.count)
        #expect(Set(codes.map(\.description)).count == codes.count)
        #expect(MultipartError.Code.fileShrank.description == "fileShrank")
    }

    @Test func `The part of an error that a source has named already stays`() throws {
        let source = GeneratorSource.once { _ in
            throw MultipartError(.readFailed, "reason", part: .init(index: 9, name: "inner"))
        }
        var form = MultipartForm()
        try form.append(.file("outer", source, filename: "f"))
        #expect(failure(of: { try form.body().bytes() })?.part?.name == "inner")
    }

    private struct Foreign: Error, CustomStringConvertible {
        let description: String
    }
}
