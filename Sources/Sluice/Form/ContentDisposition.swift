/// A part's Content-Disposition (RFC 7578 section 4.2, RFC 2183): its kind, name and filename.
///
/// Name and filename are the text itself; how they are escaped is the form's choice, see ``NameEscaping``.
public struct ContentDisposition: Hashable, Sendable {
    /// The disposition type: `form-data`, `attachment`, `inline`.
    public let kind: String
    /// The field's name.
    public var name: String?
    /// The file's name; an empty one is sent as such, nil is not sent.
    public var filename: String?

    /// The disposition of a form field or file.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - filename: The file's name; nil for a field that is not a file.
    /// - Returns: A disposition of the type `form-data`.
    public static func formData(name: String, filename: String? = nil) -> ContentDisposition {
        ContentDisposition(known: "form-data", name: name, filename: filename)
    }

    /// The disposition of an attachment, for `multipart/mixed`.
    ///
    /// - Parameter filename: The file's name.
    /// - Returns: A disposition of the type `attachment`.
    public static func attachment(filename: String? = nil) -> ContentDisposition {
        ContentDisposition(known: "attachment", name: nil, filename: filename)
    }

    /// A disposition of any type.
    ///
    /// - Parameters:
    ///   - kind: The disposition type, a token.
    ///   - name: The field's name.
    ///   - filename: The file's name.
    /// - Throws: ``MultipartError/Code/invalidHeader`` where `kind` is no token.
    public init(kind: String, name: String? = nil, filename: String? = nil) throws(MultipartError) {
        guard HeaderGrammar.isToken(kind) else {
            throw MultipartError(.invalidHeader, "the disposition type \"\(printable(kind))\" is not a token")
        }
        self.init(known: kind, name: name, filename: filename)
    }

    init(known kind: String, name: String?, filename: String?) {
        self.kind = kind
        self.name = name
        self.filename = filename
    }

    /// The header's value: the name first, both always quoted, raw UTF-8.
    ///
    /// - Parameter escaping: How to escape what would break the quotes or the line.
    /// - Returns: The value, as in `form-data; name="photo"; filename="a.png"`.
    /// - Throws: ``MultipartError/Code/invalidName`` for a NUL, or with ``NameEscaping/backslash`` a CR or LF.
    public func headerValue(_ escaping: NameEscaping = .percent) throws(MultipartError) -> String {
        var value = kind
        if let name { value += "; name=\"\(try escaping.name(name))\"" }
        if let filename { value += "; filename=\"\(try escaping.filename(filename))\"" }
        return value
    }
}
