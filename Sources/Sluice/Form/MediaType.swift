/// A media type with its parameters, as a Content-Type header has it (RFC 2045 section 5.1, RFC 9110 section 8.3.1).
public struct MediaType: Hashable, Sendable, CustomStringConvertible {
    /// The type as it is sent: `text/plain; charset=utf-8`.
    public let description: String

    /// Checks and makes a type.
    ///
    /// - Parameter text: `type/subtype`, with `; name=value` parameters whose values are tokens or quoted strings.
    /// - Throws: ``MultipartError/Code/invalidMediaType`` for anything else.
    public init(_ text: String) throws(MultipartError) {
        guard Self.isValid(text) else {
            throw MultipartError(
                .invalidMediaType,
                "\"\(printable(text))\" is not a media type; write it like text/plain or text/csv; charset=utf-8"
            )
        }
        description = text
    }

    /// A type where there is a text, else nil.
    package init?(ifGiven text: String?) throws(MultipartError) {
        guard let text else { return nil }
        try self.init(text)
    }

    private init(known text: String) {
        description = text
    }

    /// The `type/subtype`, without parameters.
    var essence: String {
        String(description.prefix { $0 != ";" && $0 != " " && $0 != "\t" })
    }

    /// `application/octet-stream`: bytes of which nothing else is known.
    public static let octetStream = MediaType(known: "application/octet-stream")
    /// `application/gzip`: a file compressed with gzip (RFC 6713).
    public static let gzip = MediaType(known: "application/gzip")
    /// `text/plain`, without a charset.
    public static let plainText = MediaType(known: "text/plain")
    /// `application/json`.
    public static let json = MediaType(known: "application/json")

    /// The type that the filename's extension stands for, else ``octetStream``.
    ///
    /// The table is the package's own, made from IANA's registrations, so that the answer does not depend on the
    /// machine.
    ///
    /// - Parameter filename: A filename or path; the case of its extension does not matter.
    /// - Returns: The type.
    public static func forFilename(_ filename: String) -> MediaType {
        let name =
            filename.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last
            ?? filename.utf8[...]
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex,
            let known = MediaTypeTable.mediaType(forExtension: String(Substring(name[name.index(after: dot)...])))
        else { return octetStream }
        return MediaType(known: known)
    }

    /// The type of a multipart body or part, as the form writes it.
    static func multipart(_ subtype: MultipartForm.Subtype, _ parameters: [(name: String, value: String)]) -> MediaType
    {
        MediaType(
            known: parameters.reduce(into: "multipart/\(subtype)") { text, parameter in
                text += "; \(parameter.name)=\(HeaderGrammar.parameterValue(parameter.value))"
            }
        )
    }

    /// `token/token *( OWS ; OWS token=(token / quoted-string) )`.
    private static func isValid(_ text: String) -> Bool {
        var rest = text.utf8[...]
        guard takeToken(&rest), rest.popFirst() == UInt8(ascii: "/"), takeToken(&rest) else { return false }
        while !rest.isEmpty {
            rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            guard rest.popFirst() == UInt8(ascii: ";") else { return false }
            rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            guard takeToken(&rest), rest.popFirst() == UInt8(ascii: "=") else { return false }
            if rest.first == UInt8(ascii: "\"") {
                guard takeQuotedString(&rest) else { return false }
            } else {
                guard takeToken(&rest) else { return false }
            }
        }
        return true
    }

    private static func takeToken(_ rest: inout Substring.UTF8View) -> Bool {
        let after = rest.drop(while: HeaderGrammar.isTokenCharacter)
        defer { rest = after }
        return after.startIndex != rest.startIndex
    }

    private static func takeQuotedString(_ rest: inout Substring.UTF8View) -> Bool {
        rest.removeFirst()
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return true
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst(), escaped != 0, escaped != 0x0D, escaped != 0x0A else {
                    return false
                }
            case 0, 0x0D, 0x0A: return false
            default: continue
            }
        }
        return false
    }
}
