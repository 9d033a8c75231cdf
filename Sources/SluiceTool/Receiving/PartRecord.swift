import Sluice

/// A part that has arrived.
struct PartRecord: Sendable {
    let headers: PartHeaders
    var size: Int64 = 0
    /// Its SHA-256 in hexadecimal, where that was asked for.
    var sha256: String?
    /// Its content, where that is kept in memory.
    var content: [UInt8]?
    /// Which of the batch's files it is, where it is one.
    var fileIndex: Int?

    /// A line for people: name, filename, type, size, SHA-256 and offset, with tabs between them.
    func line() -> String {
        let fields = [
            headers.name.map(Self.quoted), headers.filename.map(Self.quoted), headers.contentType.map(printable),
            "\(size)", sha256, "\(headers.contentOffset)",
        ]
        return fields.map { $0 ?? "-" }.joined(separator: "\t")
    }

    /// Quoted, so that no name can look like a missing one, and nothing in it like the end of it.
    private static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.reduce(into: "") { result, scalar in
            if scalar == "\"" || scalar == "\\" { result += "\\" }
            result.unicodeScalars.append(scalar)
        }
        return "\"\(printable(escaped))\""
    }

    /// What `sluice decode --json` prints of it.
    ///
    /// - Parameter path: Where it was written, if it was.
    /// - Returns: A JSON object.
    func json(path: String?) -> String {
        let fields = headers.fields.map { "[\(JSONText.string($0.name)),\(JSONText.string($0.value))]" }
        return JSONText.object(
            identity + [
                ("headers", "[\(fields.joined(separator: ","))]"),
                ("size", "\(size)"),
                ("sha256", sha256.map(JSONText.string)),
                ("offset", "\(headers.contentOffset)"),
            ] + (path.map { [("path", JSONText.string($0))] } ?? [])
        )
    }

    /// Appends what `sluice receive` answers of it: a JSON object, with a field's value where that is UTF-8.
    ///
    /// - Parameters:
    ///   - answer: What it is appended to; a value takes up to six times its bytes there, and nowhere else.
    ///   - path: Where it was stored, if it was.
    func append(to answer: inout [UInt8], path: String?) {
        let members =
            identity + [
                ("size", "\(size)"),
                ("sha256", sha256.map(JSONText.string)),
                ("path", path.map(JSONText.string)),
            ]
        answer += "{".utf8
        for member in members { answer += "\(JSONText.string(member.name)):\(member.value ?? "null"),".utf8 }
        answer += "\"value\":".utf8
        if let value = content.flatMap({ String(validating: $0, as: UTF8.self) }) {
            JSONText.append(value, to: &answer)
        } else {
            answer += "null".utf8
        }
        answer += "}".utf8
    }

    private var identity: [(name: String, value: String?)] {
        [
            ("name", headers.name.map(JSONText.string)),
            ("filename", headers.filename.map(JSONText.string)),
            ("contentType", headers.contentType.map(JSONText.string)),
        ]
    }
}
