/// A multipart body as a value: parts in order, a boundary, a subtype.
///
/// ```swift
/// var form = MultipartForm()
/// try form.addField(name: "title", value: "Holiday")
/// try form.addFile(name: "film", path: "/data/film.mkv")
/// let body = try form.body()
/// ```
///
/// Adding a part checks its names and reads nothing. ``body()`` looks at the files, renders the headers and gives a
/// ``MultipartBody``, whose size in memory does not depend on the size of the parts.
public struct MultipartForm: Sendable {
    /// A multipart subtype: what the parts are to each other.
    public struct Subtype: Hashable, Sendable, CustomStringConvertible {
        /// The subtype's token, as in `form-data`.
        public let description: String

        private init(known text: String) {
            description = text
        }

        /// A subtype by its token.
        ///
        /// - Parameter text: The token, without `multipart/`.
        /// - Throws: ``MultipartError/Code/invalidForm`` where it is not a token.
        public init(_ text: String) throws(MultipartError) {
            guard HeaderGrammar.isToken(text) else {
                throw MultipartError(
                    .invalidForm,
                    "the subtype \"\(printable(text))\" is not a token, like mixed or related"
                )
            }
            self.init(known: text.lowercased())
        }

        /// A form's fields and files (RFC 7578).
        public static let formData = Subtype(known: "form-data")
        /// Independent parts in order (RFC 2046 section 5.1.3).
        public static let mixed = Subtype(known: "mixed")
        /// A root part and what it refers to (RFC 2387); its `type` parameter is the first part's type and
        /// subtype unless the form's ``MultipartForm/parameters`` say otherwise.
        public static let related = Subtype(known: "related")
        /// The same content in several forms (RFC 2046 section 5.1.4).
        public static let alternative = Subtype(known: "alternative")
        /// Ranges of one resource (RFC 9110 section 14.6).
        public static let byteranges = Subtype(known: "byteranges")
    }

    /// What the parts are to each other.
    public let subtype: Subtype
    /// What separates the parts.
    public let boundary: Boundary
    /// How names and filenames are escaped.
    public let escaping: NameEscaping
    /// Whether ``body()`` searches the parts in memory for the delimiter, and throws where it finds it.
    ///
    /// A random boundary needs no such search: its chance to occur is below 2^-100 for any body. It is for
    /// boundaries of the caller's, and costs one pass over the bytes in memory; files and streams are not searched.
    public var checksMemoryForBoundary = false
    /// The parts, in the order in which they are sent.
    public private(set) var parts: [Part] = []
    /// Parameters of the Content-Type besides the boundary.
    public private(set) var parameters: [(name: String, value: String)] = []

    /// An empty form.
    ///
    /// - Parameters:
    ///   - subtype: What the parts are to each other.
    ///   - boundary: What separates them; random unless given.
    ///   - escaping: How names and filenames are escaped.
    public init(
        subtype: Subtype = .formData,
        boundary: Boundary = Boundary(),
        escaping: NameEscaping = .percent
    ) {
        self.subtype = subtype
        self.boundary = boundary
        self.escaping = escaping
    }

    /// A form of the parts that a builder lists.
    ///
    /// ```swift
    /// let form = try MultipartForm {
    ///     Part.field("title", "Holiday")
    ///     for path in paths { Part.file("photo", path: path) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - subtype: What the parts are to each other.
    ///   - boundary: What separates them; random unless given.
    ///   - escaping: How names and filenames are escaped.
    ///   - parts: Lists the parts.
    /// - Throws: As ``append(_:)`` does.
    public init(
        subtype: Subtype = .formData,
        boundary: Boundary = Boundary(),
        escaping: NameEscaping = .percent,
        @PartsBuilder parts: () throws(MultipartError) -> [Part]
    ) throws(MultipartError) {
        self.init(subtype: subtype, boundary: boundary, escaping: escaping)
        for part in try parts() { try append(part) }
    }

    // MARK: Adding parts

    /// Adds a part at the end.
    ///
    /// - Parameter part: The part.
    /// - Throws: ``MultipartError/Code/invalidName`` where the form's escaping cannot write its name or filename;
    ///   ``MultipartError/Code/invalidForm`` where a form-data part has no name or another disposition;
    ///   ``MultipartError/Code/invalidCompression`` where it cannot be compressed as it is to be.
    public mutating func append(_ part: Part) throws(MultipartError) {
        let label = MultipartError.PartLabel(index: parts.count, name: part.disposition?.name)
        do {
            _ = try part.disposition?.headerValue(escaping)
            if subtype == .formData { try Self.checkFormData(part) }
            try part.validateCompression()
        } catch {
            throw error.inPart(label)
        }
        parts.append(part)
    }

    /// Adds a text field.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - value: The value, sent byte for byte as UTF-8 (with ``NameEscaping/html``, newlines become CRLF).
    /// - Throws: ``MultipartError/Code/invalidName`` for a NUL in the name.
    public mutating func addField(name: String, value: String) throws(MultipartError) {
        try append(.field(name, value))
    }

    /// Adds a file, which is opened when its turn to be sent comes.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - path: The file's path.
    ///   - filename: The name that the receiver is told; the path's last component where nil.
    ///   - mimeType: The type; by the filename's extension where nil.
    /// - Throws: ``MultipartError/Code/invalidName`` for a NUL in the name or filename;
    ///   ``MultipartError/Code/invalidMediaType`` where `mimeType` is not a media type.
    public mutating func addFile(
        name: String,
        path: String,
        filename: String? = nil,
        mimeType: String? = nil
    ) throws(MultipartError) {
        let mediaType = try MediaType(ifGiven: mimeType)
        try append(.file(name, path: path, filename: filename, mediaType: mediaType))
    }

    /// Adds a file whose bytes are in memory, held and not copied.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - filename: The name that the receiver is told.
    ///   - mimeType: The type; by the filename's extension where nil.
    ///   - data: The bytes.
    /// - Throws: ``MultipartError/Code/invalidName`` for a NUL in the name or filename;
    ///   ``MultipartError/Code/invalidMediaType`` where `mimeType` is not a media type.
    public mutating func addFile(
        name: String,
        filename: String,
        mimeType: String? = nil,
        data: [UInt8]
    ) throws(MultipartError) {
        let mediaType = try MediaType(ifGiven: mimeType)
        try append(.file(name, bytes: data, filename: filename, mediaType: mediaType))
    }

    /// Adds a parameter to the form's Content-Type, such as `start` and `type` of `multipart/related`.
    ///
    /// - Parameters:
    ///   - name: The parameter's name, a token; not `boundary`.
    ///   - value: The value; quoted where it has to be.
    /// - Throws: ``MultipartError/Code/invalidHeader`` for a name that is no token or is there already, and for a value
    ///   with CR, LF or NUL.
    public mutating func addParameter(name: String, value: String) throws(MultipartError) {
        guard HeaderGrammar.isToken(name), HeaderGrammar.isFieldValue(value) else {
            throw MultipartError(
                .invalidHeader,
                "the Content-Type parameter \"\(printable(name))\" is no token, or its value has a CR, LF or NUL in it"
            )
        }
        let taken = parameters.map(\.name) + ["boundary"]
        guard !taken.contains(where: { $0.lowercased() == name.lowercased() }) else {
            throw MultipartError(.invalidHeader, "the Content-Type has a parameter \(name) already")
        }
        parameters.append((name, value))
    }

    // MARK: The result

    /// The Content-Type header's value, with the boundary quoted where it has to be (RFC 2045 section 5.1).
    public var contentType: String { mediaType.description }

    /// The form's media type, as a part that holds the form has it.
    var mediaType: MediaType {
        var all = parameters
        if subtype == .related, !all.contains(where: { $0.name.lowercased() == "type" }), let root = parts.first {
            all.append(("type", root.essence))
        }
        return .multipart(subtype, all + [("boundary", boundary.description)])
    }

    /// Looks at the files, renders the headers, and fixes the layout of the body.
    ///
    /// A file's size, modification time and identity are recorded now; it is opened when its turn comes. The result
    /// takes some 300 bytes a part besides the headers, and no more for large parts than for small ones.
    ///
    /// Nothing is read, except for parts that are compressed to a length that is known before
    /// (``Gzip/Length/measured`` and ``Gzip/Length/spooled(memoryLimit:)``): these are compressed now, all through.
    ///
    /// - Returns: The body.
    /// - Throws: ``MultipartError`` naming the part: a file that is missing, a directory or unreadable; a nested
    ///   boundary that begins with an outer one; a delimiter found by ``checksMemoryForBoundary``.
    public func body() throws(MultipartError) -> MultipartBody {
        MultipartBody(try BodyLayout(self))
    }

    /// As ``body()``, for parts that are compressed to a length that is known before, from sources that wait.
    ///
    /// - Parameter interrupt: Ends the compressing from any thread, also where it waits for a pipe, a socket or an async
    ///   sequence.
    /// - Returns: The body.
    /// - Throws: As ``body()``, and ``MultipartError/Code/cancelled`` after ``ReadInterrupt/trigger()``.
    public func body(interrupt: ReadInterrupt) throws(MultipartError) -> MultipartBody {
        MultipartBody(try BodyLayout(self, interrupt: interrupt))
    }

    private static func checkFormData(_ part: Part) throws(MultipartError) {
        guard let disposition = part.disposition, disposition.kind.lowercased() == "form-data", disposition.name != nil
        else {
            throw MultipartError(
                .invalidForm,
                "a part of multipart/form-data needs the disposition form-data with a name (RFC 7578 section 4.2)"
            )
        }
    }
}

extension Part {
    /// The Content-Type that the part is sent with.
    var resolvedMediaType: MediaType? { form?.mediaType ?? mediaType }

    /// The form that the part is, compressed or not.
    private var form: MultipartForm? {
        var origin = origin
        while case .gzip(let inner, _) = origin { origin = inner }
        return if case .form(let form) = origin { form } else { nil }
    }

    /// The `type/subtype` of the part's Content-Type, without parameters.
    fileprivate var essence: String {
        form.map { "multipart/\($0.subtype)" } ?? (mediaType ?? .plainText).essence
    }
}
