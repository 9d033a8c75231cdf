extension MultipartParser {
    /// An event that has its bytes with it.
    public enum Piece: ~Escapable {
        /// A part begins.
        case partBegan(PartHeaders)
        /// Content of the part, lent for the call.
        case body(RawSpan)
        /// The part is complete.
        case partEnded
        /// The body is complete.
        case end
    }

    /// Parses a chunk, and hands on what was found.
    ///
    /// - Parameters:
    ///   - chunk: The next bytes of the body, lent for the call.
    ///   - handle: Called for each piece in turn. What it throws ends the parsing: each later call throws
    ///     ``MultipartError/Code/outOfTurn``.
    /// - Throws: What ``next(in:)`` throws, and what `handle` throws.
    public mutating func parse(_ chunk: RawSpan, _ handle: (borrowing Piece) throws -> Void) throws {
        while let event = try next(in: chunk) {
            do {
                switch event {
                case .partBegan(let headers): try handle(.partBegan(headers))
                case .body(let range): try handle(.body(chunk.extracting(range)))
                case .heldBody(let range):
                    let bytes = heldBytes
                    try unsafe handle(.body(bytes.span.bytes.extracting(range)))
                case .partEnded: try handle(.partEnded)
                case .end: try handle(.end)
                }
            } catch {
                abandon()
                throw error
            }
        }
    }

    /// Says that there are no more chunks, and hands on what had to wait for that.
    ///
    /// - Parameter handle: Called for each piece in turn.
    /// - Throws: What ``finish()`` throws, and what `handle` throws.
    public mutating func finish(_ handle: (borrowing Piece) throws -> Void) throws {
        while let event = try finish() {
            switch event {
            case .partEnded: try handle(.partEnded)
            case .end: try handle(.end)
            case .partBegan, .body, .heldBody: break
            }
        }
    }
}
