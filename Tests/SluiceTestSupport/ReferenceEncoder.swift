/// A part as the reference encoder takes it: headers that are spelt out, and content that is there.
package struct ReferencePart: Sendable {
    package enum Content: Sendable {
        case bytes([UInt8])
        case nested(boundary: String, [ReferencePart])
    }

    package var headers: [(name: String, value: [UInt8])]
    package var content: Content
    /// What the disposition says, before it is escaped.
    package private(set) var name: String?
    package private(set) var filename: String?

    package init(headers: [(name: String, value: [UInt8])], content: Content) {
        self.headers = headers
        self.content = content
    }

    /// A part of `multipart/form-data` as the WHATWG's encoding algorithm writes it.
    package static func formData(
        name: String,
        filename: String? = nil,
        type: String? = nil,
        content: [UInt8]
    ) -> ReferencePart {
        var disposition = Array("form-data; name=\"".utf8) + ReferenceEncoder.escapedName(name) + Array("\"".utf8)
        if let filename {
            disposition += Array("; filename=\"".utf8) + ReferenceEncoder.escapedFilename(filename) + Array("\"".utf8)
        }
        var headers = [(name: "Content-Disposition", value: disposition)]
        if let type { headers.append(("Content-Type", Array(type.utf8))) }
        var part = ReferencePart(headers: headers, content: .bytes(content))
        (part.name, part.filename) = (name, filename)
        return part
    }
}

/// A multipart encoder that does the obvious thing and knows nothing of the engine: RFC 2046 section 5.1.1 as it reads.
///
/// The whole body is put together in memory: each part is its headers, an empty line, its content and a line end, and
/// each stands behind a line with the delimiter.
package enum ReferenceEncoder {
    package static func encode(boundary: String, _ parts: [ReferencePart]) -> [UInt8] {
        var lines: [[UInt8]] = []
        for part in parts {
            lines.append(Array("--\(boundary)".utf8))
            for (name, value) in part.headers { lines.append(Array("\(name): ".utf8) + value) }
            lines.append([])
            switch part.content {
            case .bytes(let bytes): lines.append(bytes)
            case .nested(let boundary, let parts): lines.append(encode(boundary: boundary, parts))
            }
        }
        lines.append(Array("--\(boundary)--".utf8))
        return lines.flatMap { $0 + [13, 10] }
    }

    /// WHATWG HTML, "multipart/form-data encoding algorithm", step 1 for names: every newline becomes CRLF, and then
    /// CR, LF and the quotation mark are percent-encoded.
    package static func escapedName(_ name: String) -> [UInt8] {
        replacing(name, [("\r\n", "%0D%0A"), ("\r", "%0D%0A"), ("\n", "%0D%0A"), ("\"", "%22")])
    }

    /// The same for filenames, whose newlines stay as they are.
    package static func escapedFilename(_ filename: String) -> [UInt8] {
        replacing(filename, [("\r", "%0D"), ("\n", "%0A"), ("\"", "%22")])
    }

    /// A name as a receiver that undoes the escapes sees it.
    package static func newlinesOfName(_ name: String) -> String {
        String(decoding: normalisedValue(name), as: UTF8.self)
    }

    /// The same for values of fields that are no files.
    package static func normalisedValue(_ value: String) -> [UInt8] {
        replacing(value, [("\r\n", "\r\n"), ("\r", "\r\n"), ("\n", "\r\n")])
    }

    /// A quoted-string's inside (RFC 822 section 3.3): a backslash before each quotation mark and backslash.
    package static func quotedPairs(_ text: String) -> [UInt8] {
        replacing(text, [("\"", "\\\""), ("\\", "\\\\")])
    }

    /// Replaces from left to right what the first fitting rule names.
    ///
    /// Works on bytes, because to Swift CR LF is one character.
    private static func replacing(_ text: String, _ rules: [(from: String, to: String)]) -> [UInt8] {
        var rest = Array(text.utf8)[...]
        var result: [UInt8] = []
        while let first = rest.first {
            if let rule = rules.first(where: { rest.starts(with: $0.from.utf8) }) {
                result += Array(rule.to.utf8)
                rest = rest.dropFirst(rule.from.utf8.count)
            } else {
                result.append(first)
                rest = rest.dropFirst()
            }
        }
        return result
    }
}
