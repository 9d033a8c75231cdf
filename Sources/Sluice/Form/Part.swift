/// One part of a form: its headers, and where its bytes come from.
///
/// Making a part reads nothing. Its names are checked when it is added to a form, its file when the form's
/// ``MultipartForm/body()`` is made, and its bytes are read when the body is.
public struct Part: Sendable {
    /// Where a part's bytes come from.
    indirect enum Origin: Sendable {
        case text(String)
        case bytes(HeldBytes)
        case file(FileSource)
        case source(any ByteSource)
        case async(AsyncSource)
        case form(MultipartForm)
        case gzip(Origin, Compression)
    }

    /// The part's Content-Disposition; nil where it has none, which `multipart/form-data` does not allow.
    public var disposition: ContentDisposition?
    /// The part's Content-Type; nil where it has none.
    ///
    /// For a nested form it is the form's own.
    public var mediaType: MediaType?
    /// Further header fields, in the order in which they are sent.
    public var headers: [HeaderField]

    let origin: Origin

    init(_ disposition: ContentDisposition?, _ mediaType: MediaType?, _ headers: [HeaderField], _ origin: Origin) {
        self.disposition = disposition
        self.mediaType = mediaType
        self.headers = headers
        self.origin = origin
    }

    // MARK: Form fields and files

    /// A text field.
    ///
    /// It has no Content-Type, as the WHATWG's algorithm demands.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - value: The value, held and sent byte for byte as UTF-8.
    /// - Returns: The part.
    public static func field(_ name: String, _ value: String) -> Part {
        Part(.formData(name: name), nil, [], .text(value))
    }

    /// A file, opened when its turn comes.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - path: The file's path.
    ///   - filename: The name that the receiver is told; the path's last component where nil.
    ///   - mediaType: The type; by the filename's extension where nil.
    ///   - headers: Further header fields.
    /// - Returns: The part.
    public static func file(
        _ name: String,
        path: String,
        filename: String? = nil,
        mediaType: MediaType? = nil,
        headers: [HeaderField] = []
    ) -> Part {
        file(name, FileSource(path: path), filename: filename, mediaType: mediaType, headers: headers)
    }

    /// A file, a byte range of one, a descriptor, a pipe or the standard input.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - source: The file.
    ///   - filename: The name that the receiver is told; the path's last component where nil, and empty where there
    ///     is no path.
    ///   - mediaType: The type; by the filename's extension where nil.
    ///   - headers: Further header fields.
    /// - Returns: The part.
    public static func file(
        _ name: String,
        _ source: FileSource,
        filename: String? = nil,
        mediaType: MediaType? = nil,
        headers: [HeaderField] = []
    ) -> Part {
        file(name, filename ?? source.defaultFilename ?? "", mediaType, headers, .file(source))
    }

    /// A file whose bytes are in memory, held and not copied.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - bytes: The file's bytes.
    ///   - filename: The name that the receiver is told.
    ///   - mediaType: The type; by the filename's extension where nil.
    ///   - headers: Further header fields.
    /// - Returns: The part.
    public static func file(
        _ name: String,
        bytes: [UInt8],
        filename: String,
        mediaType: MediaType? = nil,
        headers: [HeaderField] = []
    ) -> Part {
        file(name, filename, mediaType, headers, .bytes(HeldBytes(bytes)))
    }

    /// A file whose bytes are a slice of an array, held and not copied.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - bytes: The file's bytes.
    ///   - filename: The name that the receiver is told.
    ///   - mediaType: The type; by the filename's extension where nil.
    ///   - headers: Further header fields.
    /// - Returns: The part.
    public static func file(
        _ name: String,
        bytes: ArraySlice<UInt8>,
        filename: String,
        mediaType: MediaType? = nil,
        headers: [HeaderField] = []
    ) -> Part {
        file(name, filename, mediaType, headers, .bytes(HeldBytes(bytes)))
    }

    /// A file whose bytes come from a generator or a source of your own.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - source: The source.
    ///   - filename: The name that the receiver is told.
    ///   - mediaType: The type; by the filename's extension where nil.
    ///   - headers: Further header fields.
    /// - Returns: The part.
    public static func file(
        _ name: String,
        _ source: some ByteSource,
        filename: String,
        mediaType: MediaType? = nil,
        headers: [HeaderField] = []
    ) -> Part {
        file(name, filename, mediaType, headers, .source(source))
    }

    /// A file whose bytes come from an async sequence.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - source: The sequence.
    ///   - filename: The name that the receiver is told.
    ///   - mediaType: The type; by the filename's extension where nil.
    ///   - headers: Further header fields.
    /// - Returns: The part.
    public static func file(
        _ name: String,
        _ source: AsyncSource,
        filename: String,
        mediaType: MediaType? = nil,
        headers: [HeaderField] = []
    ) -> Part {
        file(name, filename, mediaType, headers, .async(source))
    }

    /// A whole form as a part: `multipart/mixed` inside a form, or the reverse.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - form: The nested form. Its boundary must not begin with the outer form's.
    ///   - headers: Further header fields.
    /// - Returns: The part.
    public static func form(_ name: String, _ form: MultipartForm, headers: [HeaderField] = []) -> Part {
        Part(.formData(name: name), nil, headers, .form(form))
    }

    package static func file(
        _ name: String,
        _ filename: String,
        _ mediaType: MediaType?,
        _ headers: [HeaderField],
        held bytes: HeldBytes
    ) -> Part {
        file(name, filename, mediaType, headers, .bytes(bytes))
    }

    private static func file(
        _ name: String,
        _ filename: String,
        _ mediaType: MediaType?,
        _ headers: [HeaderField],
        _ origin: Origin
    ) -> Part {
        let disposition = ContentDisposition.formData(name: name, filename: filename)
        return Part(disposition, mediaType ?? .forFilename(filename), headers, origin)
    }

    // MARK: Any part

    /// A part with headers of the caller's and its bytes in memory, held and not copied.
    ///
    /// - Parameters:
    ///   - disposition: The Content-Disposition, or nil for none.
    ///   - mediaType: The Content-Type, or nil for none.
    ///   - headers: Further header fields.
    ///   - bytes: The content.
    public init(
        disposition: ContentDisposition?,
        mediaType: MediaType?,
        headers: [HeaderField] = [],
        bytes: [UInt8]
    ) {
        self.init(disposition, mediaType, headers, .bytes(HeldBytes(bytes)))
    }

    /// A part with headers of the caller's and a file's content.
    ///
    /// - Parameters:
    ///   - disposition: The Content-Disposition, or nil for none.
    ///   - mediaType: The Content-Type, or nil for none.
    ///   - headers: Further header fields.
    ///   - file: The content.
    public init(
        disposition: ContentDisposition?,
        mediaType: MediaType?,
        headers: [HeaderField] = [],
        file: FileSource
    ) {
        self.init(disposition, mediaType, headers, .file(file))
    }

    /// A part with headers of the caller's and the content of a generator or a source of your own.
    ///
    /// - Parameters:
    ///   - disposition: The Content-Disposition, or nil for none.
    ///   - mediaType: The Content-Type, or nil for none.
    ///   - headers: Further header fields.
    ///   - source: The content.
    public init(
        disposition: ContentDisposition?,
        mediaType: MediaType?,
        headers: [HeaderField] = [],
        source: some ByteSource
    ) {
        self.init(disposition, mediaType, headers, .source(source))
    }

    /// A part with headers of the caller's and the content of an async sequence.
    ///
    /// - Parameters:
    ///   - disposition: The Content-Disposition, or nil for none.
    ///   - mediaType: The Content-Type, or nil for none.
    ///   - headers: Further header fields.
    ///   - source: The content.
    public init(
        disposition: ContentDisposition?,
        mediaType: MediaType?,
        headers: [HeaderField] = [],
        source: AsyncSource
    ) {
        self.init(disposition, mediaType, headers, .async(source))
    }

    /// A nested form with headers of the caller's.
    ///
    /// Its Content-Type is the form's own.
    ///
    /// - Parameters:
    ///   - disposition: The Content-Disposition, or nil for none.
    ///   - headers: Further header fields.
    ///   - form: The nested form.
    public init(disposition: ContentDisposition?, headers: [HeaderField] = [], form: MultipartForm) {
        self.init(disposition, nil, headers, .form(form))
    }
}
