/// A part of a body in memory: its headers, and its content as a slice of the body.
public struct ParsedPart: Sendable {
    /// The headers.
    public let headers: PartHeaders
    /// The content, which shares the body's memory.
    public let content: ArraySlice<UInt8>

    /// The parts of a body that is in memory.
    ///
    /// ```swift
    /// let parts = try ParsedPart.parts(
    ///     of: body,
    ///     MultipartContentType(contentType),
    ///     limits: ParserLimits(fileBytes: 1 << 20, totalBytes: 4 << 20)
    /// )
    /// ```
    ///
    /// - Parameters:
    ///   - body: The whole body, not copied.
    ///   - contentType: The subtype and the boundary.
    ///   - limits: How much is accepted.
    ///   - policies: How to take what the standards leave open; those of the subtype where nil.
    /// - Returns: The parts in their order. For those in a part, ask with its
    ///   ``PartHeaders/nestedContentType`` for those of its content.
    /// - Throws: ``MultipartError`` for what is wrong with the body.
    public static func parts(
        of body: ArraySlice<UInt8>,
        _ contentType: MultipartContentType,
        limits: ParserLimits,
        policies: ParserPolicies? = nil
    ) throws(MultipartError) -> [ParsedPart] {
        var parser = MultipartParser(contentType, limits: limits, policies: policies)
        var parts: [ParsedPart] = []
        var open: (headers: PartHeaders, end: Int)?
        func take(_ event: MultipartParser.Event) {
            switch event {
            case .partBegan(let headers): open = (headers, Int(headers.contentOffset))
            case .body(let range): open?.end = range.upperBound
            case .heldBody(let range): open?.end += range.count
            case .partEnded:
                guard let (headers, end) = open else { return }
                let start = body.startIndex + Int(headers.contentOffset)
                parts.append(ParsedPart(headers: headers, content: body[start..<body.startIndex + end]))
            case .end: break
            }
        }
        let bytes = unsafe body.span.bytes
        while let event = try parser.next(in: bytes) { take(event) }
        while let event = try parser.finish() { take(event) }
        return parts
    }

    /// The parts of a body that is in memory.
    ///
    /// - Parameters:
    ///   - body: The whole body, not copied.
    ///   - contentType: The subtype and the boundary.
    ///   - limits: How much is accepted.
    ///   - policies: How to take what the standards leave open; those of the subtype where nil.
    /// - Returns: The parts in their order.
    /// - Throws: ``MultipartError`` for what is wrong with the body.
    public static func parts(
        of body: [UInt8],
        _ contentType: MultipartContentType,
        limits: ParserLimits,
        policies: ParserPolicies? = nil
    ) throws(MultipartError) -> [ParsedPart] {
        try parts(of: body[...], contentType, limits: limits, policies: policies)
    }
}
