import Sluice
import SluiceTestSupport
import Testing

/// Whatever a form is given to name things by, its heads have the lines that they would have without it.
@Suite struct InjectionTests {
    /// What would begin a line, a part or a parameter of its own if it came through.
    static let payloads = [
        "a\r\nX-Injected: 1", "a\nX-Injected: 1", "a\rX-Injected: 1", "a\r\n\r\ninjected", "a\r\n--b--\r\n", "\r\n",
        "a\r\n--b\r\nContent-Disposition: form-data; name=\"c\"\r\n\r\nv", "a\"; filename=\"x", "a\"\r\nX-Injected: 1",
        "a\"\n X-Folded", "a\\\"; filename=\"x", "a\\", "a\0b", "a\u{85}X-Injected: 1", "a\u{2028}X-Injected: 1",
        "a; filename=x", "a\u{B}b",
    ]

    /// Everything of a form that takes text, and the headers of its one part.
    enum Place: CaseIterable, Sendable {
        case name, filename, path, mediaType, headerName, headerValue, kind, gzipName
        case subtype, parameterName, parameterValue, nestedParameter, boundary

        var headers: [String] {
            switch self {
            case .name: ["content-disposition"]
            case .headerName, .headerValue: ["content-disposition", "x-own"]
            default: ["content-disposition", "content-type"]
            }
        }
    }

    private func form(
        _ text: String,
        at place: Place,
        _ escaping: NameEscaping,
        _ directory: TemporaryDirectory
    ) throws -> MultipartForm {
        var form = MultipartForm(boundary: try Boundary("b"), escaping: escaping)
        switch place {
        case .name: try form.addField(name: text, value: "v")
        case .filename: try form.addFile(name: "n", filename: text, data: [65])
        case .path: try form.addFile(name: "n", path: directory.file(text, [65]))
        case .mediaType: try form.addFile(name: "n", filename: "f", mimeType: text, data: [65])
        case .headerName, .headerValue:
            let field = try place == .headerName ? HeaderField(text, "v") : HeaderField("X-Own", text)
            let disposition = ContentDisposition.formData(name: "n")
            try form.append(Part(disposition: disposition, mediaType: nil, headers: [field], bytes: [65]))
        case .kind:
            form = MultipartForm(subtype: .mixed, boundary: try Boundary("b"), escaping: escaping)
            let disposition = try ContentDisposition(kind: text, name: "n")
            try form.append(Part(disposition: disposition, mediaType: .plainText, bytes: [65]))
        case .gzipName: try form.append(Part.file(text, bytes: [65], filename: text).gzip())
        case .subtype:
            form = MultipartForm(subtype: try MultipartForm.Subtype(text), boundary: try Boundary("b"))
        case .parameterName: try form.addParameter(name: text, value: "v")
        case .parameterValue: try form.addParameter(name: "p", value: text)
        case .nestedParameter:
            var nested = MultipartForm(subtype: .mixed, boundary: try Boundary("in"))
            try nested.addParameter(name: "p", value: text)
            try form.append(Part(disposition: .formData(name: "n"), form: nested))
        case .boundary: form = MultipartForm(boundary: try Boundary(text), escaping: escaping)
        }
        return form
    }

    @Test(arguments: Place.allCases, [NameEscaping.percent, .backslash, .html])
    func `A text is refused, or stays in its place`(place: Place, escaping: NameEscaping) throws {
        for payload in Self.payloads where place != .path || !payload.utf8.contains(0) {
            let directory = try TemporaryDirectory()
            let form: MultipartForm
            let bytes: [UInt8]
            do {
                form = try self.form(payload, at: place, escaping, directory)
                bytes = try form.body().bytes()
            } catch {
                #expect(error is MultipartError)
                continue
            }
            let comment: Comment = "\(place), \(escaping), \(payload.debugDescription)"
            #expect(!form.contentType.utf8.contains { $0 == 0x0D || $0 == 0x0A || $0 == 0 }, comment)
            if form.parts.isEmpty { continue }

            // By hand, as RFC 2046 section 5.1.1 has it: the delimiter's line, headers, an empty line.
            let lines = Self.lines(bytes)
            #expect(lines.first == Array("--b".utf8), comment)
            let head = lines.dropFirst().prefix { !$0.isEmpty }
            let names = head.map { line in
                String(decoding: line.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self).lowercased()
            }
            #expect(names == place.headers, comment)
            #expect(head.allSatisfy { !$0.contains(0x0D) && !$0.contains(0x0A) }, comment)
            #expect(lines.count { $0.starts(with: Array("--b".utf8)) } == 2, comment)
            let parameters = Self.parameters(of: head.first ?? [], hasQuotedPairs: escaping == .backslash)
            #expect(parameters == Array(["name", "filename"].prefix(parameters.count)), comment)
        }
    }

    private static func lines(_ bytes: [UInt8]) -> [[UInt8]] {
        var lines: [[UInt8]] = [[]]
        for byte in bytes {
            if byte == 0x0A, lines[lines.count - 1].last == 0x0D {
                lines[lines.count - 1].removeLast()
                lines.append([])
            } else {
                lines[lines.count - 1].append(byte)
            }
        }
        return lines
    }

    /// The names of the parameters that a Content-Disposition has outside of quotes.
    private static func parameters(of line: [UInt8], hasQuotedPairs: Bool) -> [String] {
        var outside: [UInt8] = []
        var isQuoted = false
        var isPair = false
        for byte in line {
            if isPair {
                isPair = false
            } else if isQuoted, hasQuotedPairs, byte == UInt8(ascii: "\\") {
                isPair = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if !isQuoted {
                outside.append(byte)
            }
        }
        return String(decoding: outside, as: UTF8.self).split(separator: ";").dropFirst().map { parameter in
            String(parameter.prefix { $0 != "=" }).replacing(" ", with: "")
        }
    }
}
