/// What a request's or response's Content-Type says of its multipart body: the subtype and the boundary.
public struct MultipartContentType: Hashable, Sendable {
    /// What the parts are to each other.
    public let subtype: MultipartForm.Subtype
    /// What separates the parts.
    public let boundary: Boundary

    /// Reads a Content-Type's value (RFC 9110 section 8.3.1, RFC 2046 section 5.1.1).
    ///
    /// The parameters may be in any order and case, and the boundary in quotes. One that occurs twice is an error, because
    /// receivers differ in which one they take. Comments are not understood.
    ///
    /// - Parameter value: The header's value, as in `multipart/form-data; boundary=x`.
    /// - Throws: ``MultipartError/Code/notMultipart`` for another type, ``MultipartError/Code/invalidMediaType`` for a
    ///   value that is malformed, and ``MultipartError/Code/invalidBoundary`` where the boundary is missing, occurs twice
    ///   or is none.
    public init(_ value: String) throws(MultipartError) {
        let bytes = ContiguousArray(value.utf8)
        let start = bytes.firstIndex { $0 != 0x20 && $0 != 0x09 } ?? bytes.count
        var scanner = ParameterScanner(bytes, start..<bytes.count, .escapes, limit: Self.mostParameters)
        guard let type = scanner.token(), scanner.take(UInt8(ascii: "/")), let subtype = scanner.token() else {
            throw MultipartError(.invalidMediaType, "the Content-Type \"\(printable(value))\" is not a media type")
        }
        guard bytes.isText("multipart", at: type) else {
            throw MultipartError(.notMultipart, "the Content-Type is \"\(printable(value))\" and not multipart")
        }
        self.subtype = try MultipartForm.Subtype(String(decoding: bytes[subtype], as: UTF8.self))
        var boundary: [UInt8]?
        do throws(ParameterScanner.Problem) {
            while let parameter = try scanner.next() {
                guard bytes.isText("boundary", at: parameter.name) else { continue }
                guard boundary == nil else {
                    throw ParameterScanner.Problem(
                        offset: parameter.name.lowerBound,
                        reason: "the boundary occurs twice",
                        code: .invalidBoundary
                    )
                }
                let decoding: ParserPolicies.NameDecoding = parameter.isQuoted ? .backslash : .compatible
                boundary = decoding.decode(bytes[parameter.value])
            }
        } catch {
            // Of too many parameters the status is the same as of malformed ones.
            let code = error.code == .invalidBoundary ? error.code : .invalidMediaType
            throw MultipartError(code, "in the Content-Type \"\(printable(value))\" \(error.reason)")
        }
        guard let boundary else {
            throw MultipartError(.invalidBoundary, "the Content-Type \"\(printable(value))\" has no boundary")
        }
        self.boundary = try Boundary(String(decoding: boundary, as: UTF8.self))
    }

    /// The type of a body that is known from elsewhere.
    ///
    /// - Parameters:
    ///   - subtype: What the parts are to each other.
    ///   - boundary: What separates the parts.
    public init(subtype: MultipartForm.Subtype = .formData, boundary: Boundary) {
        self.subtype = subtype
        self.boundary = boundary
    }

    /// Real ones have two or three.
    private static let mostParameters = 64
}
