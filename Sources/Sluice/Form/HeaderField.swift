/// A header field of a part, checked when it is made.
public struct HeaderField: Hashable, Sendable {
    /// The name: a token (RFC 9110 section 5.6.2).
    public let name: String
    /// The value, without CR, LF or NUL.
    public let value: String

    /// Checks and makes a field.
    ///
    /// - Parameters:
    ///   - name: A token; not `Content-Disposition` or `Content-Type`, which a ``Part`` has properties for.
    ///   - value: Any text without CR, LF and NUL, sent as UTF-8.
    /// - Throws: ``MultipartError/Code/invalidHeader`` for anything else, so that nothing can be injected.
    public init(_ name: String, _ value: String) throws(MultipartError) {
        guard HeaderGrammar.isToken(name) else {
            throw MultipartError(
                .invalidHeader,
                "the header name \"\(printable(name))\" is not a token: letters, digits and !#$%&'*+-.^_`|~ only"
            )
        }
        guard HeaderGrammar.isFieldValue(value) else {
            throw MultipartError(.invalidHeader, "the value of the header \(name) has a CR, LF or NUL in it")
        }
        guard !Self.ownNames.contains(name.lowercased()) else {
            throw MultipartError(
                .invalidHeader,
                "\(name) is not a custom header; set the part's disposition or media type instead"
            )
        }
        self.name = name
        self.value = value
    }

    /// A field that is known to be right, such as one that was parsed and checked there.
    init(known name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    static let gzipEncoding = HeaderField(known: "Content-Encoding", "gzip")

    private static let ownNames = ["content-disposition", "content-type"]
}
