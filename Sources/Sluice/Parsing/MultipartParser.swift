/// Parses a multipart body as its bytes arrive, without input or output of its own (RFC 2046 section 5.1.1).
///
/// Give it the chunks one after the other, and pull the events of each until there are no more. Content is not copied: its
/// events are ranges of the chunk. ``finish()`` says that there are no more chunks, and is not optional: without it, a body
/// that was cut off looks like one that is still arriving.
///
/// ```swift
/// var parser = MultipartParser(contentType, limits: ParserLimits(fileBytes: 1 << 30, totalBytes: 2 << 30))
/// while let chunk = try receive() {
///     try chunk.withUnsafeBytes { chunk in
///         while let event = try parser.next(in: chunk.bytes) { try handle(event) }
///     }
/// }
/// while let event = try parser.finish() { try handle(event) }
/// ```
///
/// The events depend on the bytes, not on how they are cut into chunks (content may come in more or fewer pieces), and so
/// do an error and its offset. The first error is final, and each later call throws it again. Memory is that of one
/// part's headers, and nothing is allocated for a chunk. The parser never logs.
public struct MultipartParser: ~Copyable, Sendable {
    /// What was found.
    public enum Event: Sendable {
        /// A part begins.
        case partBegan(PartHeaders)
        /// Content of the part: these bytes of the chunk.
        case body(Range<Int>)
        /// Content of the part that was held back, because it might have been a delimiter: these bytes of
        /// ``MultipartParser/heldBytes``, until the next call.
        case heldBody(Range<Int>)
        /// The part is complete.
        case partEnded
        /// The body is complete. What follows it, the epilogue, is passed over.
        case end
    }

    enum State: Equatable {
        /// Before the first delimiter, where nothing else may be; so much of the delimiter was seen, if any.
        case start(matched: Int?)
        /// Before the first delimiter.
        case preamble
        /// Behind a delimiter's boundary.
        case suffix
        case headers
        case content
        /// Before the event ``Event/end``.
        case closing
        case ended
    }

    /// What the body and the bodies around it have used up of their limits.
    struct Usage: Sendable {
        var parts = 0
        var headerBytes = 0
        var fieldBytes: Int64 = 0

        /// Counts what another parser of the same body counted: what was used up stays used up.
        mutating func raise(to other: Usage) {
            parts = max(parts, other.parts)
            headerBytes = max(headerBytes, other.headerBytes)
            fieldBytes = max(fieldBytes, other.fieldBytes)
        }
    }

    /// How much is accepted.
    public let limits: ParserLimits
    /// How is taken what the standards leave open.
    public let policies: ParserPolicies

    var state: State
    var scanner: DelimiterScanner
    var suffix = DelimiterSuffixReader()
    var block = HeaderBlock()
    var usage = Usage()
    /// The headers of the part that is open.
    var part: PartHeaders?
    /// Those of the part before, whose memory may serve for the next ones.
    var lastPart: PartHeaders?
    /// Whether the open part is a form's field, not a file.
    var isField = false
    /// The offset in the body of the headers that are being read.
    var headersOffset: Int64?
    /// The parts of this body that have begun.
    var partsBegun = 0
    /// The most bytes of the open part's content.
    var partLimit: Int64 = 0
    /// The bytes of the open part's content.
    var contentBytes: Int64 = 0
    var preambleBytes: Int64 = 0
    /// An error that is due behind the event that was given last.
    var due: MultipartError?
    /// The offset in the body of what follows the close delimiter.
    var endOffset: Int64 = 0

    /// The offset in the body of the current chunk's first byte.
    private(set) var origin: Int64 = 0
    /// Where to go on in the current chunk.
    var cursor = 0
    private var failure: MultipartError?
    private var isFinished = false

    /// A parser for a body of this Content-Type.
    ///
    /// - Parameters:
    ///   - contentType: The subtype and the boundary.
    ///   - limits: How much is accepted.
    ///   - policies: How to take what the standards leave open; those of the subtype where nil.
    public init(_ contentType: MultipartContentType, limits: ParserLimits, policies: ParserPolicies? = nil) {
        let policies = policies ?? ParserPolicies(for: contentType.subtype)
        self.limits = limits
        self.policies = policies
        scanner = DelimiterScanner(contentType.boundary, lineEnds: policies.lineEnds)
        state = policies.preamble == .reject ? .start(matched: nil) : .preamble
        // The body's first line may be a delimiter, too.
        scanner.beginLine()
    }

    // MARK: Pulling events

    /// The next event of a chunk.
    ///
    /// - Parameter chunk: The chunk, lent for the call. Give the same one until there are no more events of it.
    /// - Returns: The event, or nil where the chunk has no more.
    /// - Throws: What is wrong with the body, with its ``MultipartError/byteOffset``; ``MultipartError/Code/outOfTurn``
    ///   after ``finish()``, and where another chunk is given before the one before was used up.
    public mutating func next(in chunk: RawSpan) throws(MultipartError) -> Event? {
        if failure != nil { try throwFailure() }
        guard !isFinished, cursor <= chunk.byteCount else {
            throw fail(
                MultipartError(.outOfTurn, "the parser was given a chunk after its end or before the last was used up")
            )
        }
        do {
            let count = chunk.byteCount
            let event = try unsafe chunk.withUnsafeBytes { (bytes) throws(MultipartError) -> Event? in
                try unsafe step(bytes.bindMemory(to: UInt8.self).span)
            }
            if let event { return event }
            origin += Int64(count)
            cursor = 0
            return nil
        } catch {
            throw fail(error)
        }
    }

    /// Says that there are no more chunks, and gives the events that had to wait for that.
    ///
    /// - Returns: The next event; nil where there are no more, so call it until then.
    /// - Throws: ``MultipartError/Code/unexpectedEnd`` where the close delimiter is missing.
    public mutating func finish() throws(MultipartError) -> Event? {
        if let failure { throw failure }
        guard cursor == 0 else {
            throw fail(MultipartError(.outOfTurn, "the parser was told to finish before the last chunk was used up"))
        }
        isFinished = true
        switch state {
        case .ended:
            return nil
        case .closing:
            state = .ended
            return .end
        case .suffix where suffix.isClose:
            endOffset = origin
            return endPart(then: .closing)
        default:
            throw fail(MultipartError(.unexpectedEnd, "the body ends \(place)", byteOffset: origin))
        }
    }

    /// The offset in the body of the next byte: of all bytes that were used up; behind the end, that of the epilogue.
    public var byteOffset: Int64 { state == .ended ? endOffset : origin + Int64(cursor) }

    /// What ``Event/heldBody(_:)`` is a range of.
    public var heldBytes: ContiguousArray<UInt8> { suffix.held.isEmpty ? scanner.delimiter : suffix.held }

    /// The bytes that are kept between chunks.
    package var retainedBytes: Int { block.retainedBytes + scanner.heldCount + suffix.held.count }
    /// The bytes looked at so far, and those compared again: what bounds the time.
    package var work: Int { scanner.work }

    // MARK: Nested multiparts

    /// Makes this the parser of a part's content, before it is given any.
    ///
    /// - Parameters:
    ///   - offset: The offset of the content in the body around it: offsets are that body's.
    ///   - usage: What that body has used up of the limits.
    mutating func begin(at offset: Int64, _ usage: Usage) {
        origin = offset
        self.usage = usage
    }

    /// Lets the open part be as long as the body.
    mutating func liftPartLimit() {
        partLimit = .max
        isField = false
    }

    // MARK: Implementation

    private func throwFailure() throws(MultipartError) {
        if let failure { throw failure }
    }

    /// Makes each later call an error, because whoever took the events did not take all.
    mutating func abandon() {
        failure = failure ?? MultipartError(.outOfTurn, "the parser was abandoned in the middle of a chunk")
    }

    private mutating func fail(_ error: MultipartError) -> MultipartError {
        let label = part?.label ?? (headersOffset == nil ? nil : .init(index: partsBegun - 1, name: nil))
        let error = error.inPart(label)
        failure = error
        part = nil
        return error
    }

    private var place: String {
        switch state {
        case .start, .preamble: "before its first delimiter"
        case .suffix: "in a delimiter"
        case .headers: "in a part's headers"
        default: "in a part's content, before the close delimiter"
        }
    }

    /// Ends the open part, if there is one.
    ///
    /// - Returns: The event for that, or else the next one.
    mutating func endPart(then next: State) -> Event? {
        state = next
        guard part != nil else {
            if next == .closing {
                state = .ended
                return .end
            }
            return nil
        }
        lastPart = part.take()
        return .partEnded
    }
}
