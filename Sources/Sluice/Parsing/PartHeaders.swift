/// The headers of a part that was parsed, checked, and as they came.
///
/// The bytes of all headers are kept as one run; what is asked for is decoded when it is asked for.
public struct PartHeaders: Sendable {
    /// Where in the bytes something is.
    typealias Place = Range<Int>

    /// What was found, which events pass on by reference.
    // @unchecked: it is written before anyone else has it, and again only when no one else has it any more.
    final class Storage: @unchecked Sendable {
        /// The header lines with their line ends, without the empty line behind them.
        var bytes = ContiguousArray<UInt8>()
        var disposition: PartDisposition?
        var contentType: Place?
        var policies = ParserPolicies()
        var index = 0
        var contentOffset: Int64 = 0

        /// The bytes, so that their memory can be used for others.
        func takeBytes() -> ContiguousArray<UInt8> {
            defer { bytes = [] }
            return bytes
        }
    }

    private(set) var storage: Storage

    init(_ storage: Storage) {
        self.storage = storage
    }

    /// The memory, if no one else has these headers: other headers can be kept there.
    consuming func reusable() -> Storage? { isKnownUniquelyReferenced(&storage) ? storage : nil }

    /// The part's place in its body, from 0.
    public var index: Int { storage.index }
    /// The offset in the body of the content's first byte.
    public var contentOffset: Int64 { storage.contentOffset }

    // MARK: Content-Disposition

    /// The Content-Disposition with its name and filename; nil where there is none.
    public var contentDisposition: ContentDisposition? {
        guard let disposition else { return nil }
        return ContentDisposition(known: text(disposition.kind).lowercased(), name: name, filename: filename)
    }

    /// The field's name, with invalid UTF-8 repaired (U+FFFD); nil where there is none, which is not an empty one.
    public var name: String? { nameBytes.map { String(decoding: $0, as: UTF8.self) } }

    /// The field's name as bytes in whatever encoding, decoded as ``ParserPolicies/nameDecoding`` says.
    public var nameBytes: [UInt8]? { disposition?.name.map(decoded) }

    /// The file's name, with invalid UTF-8 repaired (U+FFFD); nil where there is none, which is not an empty one.
    ///
    /// It is the sender's word and no path: see ``sanitizedFilename``.
    public var filename: String? { filenameBytes.map { String(decoding: $0, as: UTF8.self) } }

    /// The file's name as bytes in whatever encoding, decoded as ``ParserPolicies/nameDecoding`` says.
    public var filenameBytes: [UInt8]? {
        if policies.extendedFilename == .prefer, let place = disposition?.extendedFilename,
            let decoded = ExtendedValue.decode(bytes[place.range])
        {
            return decoded
        }
        return disposition?.filename.map(decoded)
    }

    /// Whether the part is a file: whether it has a filename, be it empty.
    ///
    /// Browsers send an empty one with no content for a file input in which nothing was chosen.
    public var isFile: Bool {
        disposition?.filename != nil || disposition?.extendedFilename != nil && filenameBytes != nil
    }

    /// A name under which the file can be created in a directory; nil where there is no filename.
    ///
    /// It is the last component of the filename, with `/` and `\` taken for separators, in valid UTF-8; without control,
    /// bidirectional and zero-width characters; with `_` for each of `< > : " | ? *`; not beginning or ending in dots or
    /// spaces, nor beginning with a hyphen; no device of Windows (`CON`, `lpt1.txt`); of 1 to 255 bytes, cut before the
    /// extension. Two parts may have the same.
    public var sanitizedFilename: String? { filenameBytes.map { SafeFilename.sanitize($0) } }

    /// What ``sanitizedFilename`` makes of a name.
    package static func sanitized(_ filename: [UInt8]) -> String { SafeFilename.sanitize(filename) }

    // MARK: Other fields

    /// The Content-Type as it is, with invalid UTF-8 repaired; nil where there is none.
    ///
    /// A part without one is `text/plain` (RFC 7578 section 4.4, RFC 2046 section 5.1).
    public var contentType: String? { storage.contentType.map(text) }

    /// Whether the Content-Type says that the part is itself a multipart.
    public var isMultipart: Bool {
        guard let place = storage.contentType, place.count > 10 else { return false }
        return bytes.isText("multipart/", at: place.lowerBound..<place.lowerBound + 10)
    }

    /// The subtype and boundary of a part that is itself a multipart; nil where it is none.
    ///
    /// - Throws: As ``MultipartContentType/init(_:)`` does, where it is a multipart without a usable boundary.
    public var nestedContentType: MultipartContentType? {
        get throws(MultipartError) {
            guard isMultipart, let place = storage.contentType else { return nil }
            do { return try MultipartContentType(text(place)) } catch { throw error.inPart(label) }
        }
    }

    /// All header fields in their order, with invalid UTF-8 repaired.
    public var fields: [HeaderField] {
        places.map { HeaderField(known: text($0.name), text($0.value)) }
    }

    /// The value of the first field of this name, with invalid UTF-8 repaired.
    ///
    /// - Parameter name: The field's name, in any case.
    /// - Returns: The value, or nil where there is no such field.
    public subscript(name: String) -> String? {
        valueBytes(of: name).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The value of the first field of this name, as it came.
    ///
    /// - Parameter name: The field's name, in any case.
    /// - Returns: The value's bytes, not copied, or nil where there is no such field.
    public func valueBytes(of name: String) -> ArraySlice<UInt8>? {
        let wanted = name.lowercased()
        return places.first { text($0.name).lowercased() == wanted }.map { bytes[$0.value] }
    }

    /// The part as errors name it.
    public var label: MultipartError.PartLabel { MultipartError.PartLabel(index: index, name: name) }

    // MARK: Implementation

    private var bytes: ContiguousArray<UInt8> { storage.bytes }
    private var disposition: PartDisposition? { storage.disposition }
    private var policies: ParserPolicies { storage.policies }

    private func text(_ place: Place) -> String { String(decoding: bytes[place], as: UTF8.self) }

    private func decoded(_ value: PartDisposition.Value) -> [UInt8] {
        value.isQuoted ? policies.nameDecoding.decode(bytes[value.range]) : Array(bytes[value.range])
    }

    /// Where each field's name and value are; the lines were checked when the part began.
    private var places: [(name: Place, value: Place)] {
        var places: [(Place, Place)] = []
        var start = 0
        while let line = HeaderLine(bytes, start) {
            places.append((line.name, line.value))
            start = line.end
        }
        return places
    }
}
