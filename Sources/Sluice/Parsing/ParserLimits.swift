/// How much of a body that comes from outside is accepted.
///
/// Every limit is on, has an error of its own, and is checked before anything is kept. How large files and bodies may be
/// only the application knows, so these two have no default.
///
/// ```swift
/// var limits = ParserLimits(fileBytes: 100 << 20, totalBytes: 200 << 20)
/// limits.partCount = 20
/// ```
public struct ParserLimits: Hashable, Sendable {
    /// The most bytes of a file: of a form's part with a filename, and of any part of another subtype than form-data.
    public var fileBytes: Int64
    /// The most bytes of the body, with its delimiters and headers, up to the end of the close delimiter.
    public var totalBytes: Int64
    /// The most bytes of a field: of a form's part without a filename, whatever its Content-Type.
    ///
    /// 1 MiB unless set. Parts of a multipart in a field count by themselves where they are gone into by
    /// ``ReceivedPart/parts(policies:)``.
    public var fieldBytes: Int64 = 1 << 20
    /// The most bytes of all fields together, which applications keep in memory.
    ///
    /// 8 MiB unless set.
    public var totalFieldBytes: Int64 = 8 << 20
    /// The most parts, counting those of nested multiparts.
    ///
    /// 1,000 unless set.
    public var partCount = 1000
    /// The most bytes of a part's headers, with their line ends.
    ///
    /// 8 KiB unless set.
    public var partHeaderBytes = 8 << 10
    /// The most header fields of a part.
    ///
    /// 16 unless set.
    public var partHeaderCount = 16
    /// The most bytes of all headers together.
    ///
    /// 1 MiB unless set.
    public var totalHeaderBytes = 1 << 20
    /// The most parameters of a Content-Disposition, empty ones too.
    ///
    /// 16 unless set.
    public var parameterCount = 16
    /// How deep multiparts may be nested: 1 is a body whose parts are not gone into.
    ///
    /// 2 unless set.
    public var nestingDepth = 2
    /// The most spaces and tabs behind a delimiter.
    ///
    /// 256 unless set.
    public var paddingBytes = 256
    /// The most bytes before the first delimiter, where they are skipped.
    ///
    /// 64 KiB unless set.
    public var preambleBytes: Int64 = 64 << 10

    /// Limits for files and bodies of these sizes, the others being as their documentation says.
    ///
    /// - Parameters:
    ///   - fileBytes: The most bytes of a file.
    ///   - totalBytes: The most bytes of the body.
    public init(fileBytes: Int64, totalBytes: Int64) {
        self.fileBytes = fileBytes
        self.totalBytes = totalBytes
    }
}
