/// The parts of a multipart body, as its chunks arrive.
///
/// ```swift
/// let reader = try MultipartReader(
///     request.body,
///     contentType: request.headers["Content-Type"],
///     limits: ParserLimits(fileBytes: 1 << 30, totalBytes: 2 << 30)
/// )
/// for try await part in reader {
///     if part.headers.isFile {
///         try await part.save(to: "/srv/uploads/\(number)")
///     } else {
///         print(part.headers.name ?? "", try await part.text(upTo: 10_000))
///     }
/// }
/// ```
///
/// The upstream is any async sequence of chunks: `[UInt8]`, `ArraySlice<UInt8>`, `Data`, a view of a `ByteBuffer`. It is
/// asked for a chunk when all that the one before had in it was read, and not any more behind the body's end. A part's
/// content is slices of the chunks, not copies. Asking for the next part passes over what was not read of the one before,
/// under the same limits.
///
/// An error is final. Cancelling the task ends the reading with ``MultipartError/Code/cancelled``. Iterate a reader once:
/// reader, parts and contents belong together and are used by one task at a time.
public struct MultipartReader<Upstream: AsyncSequence>: AsyncSequence
where
    Upstream.Element: RandomAccessCollection & RangeReplaceableCollection,
    Upstream.Element.Element == UInt8,
    Upstream.Element.SubSequence: RandomAccessCollection & RangeReplaceableCollection & Sendable
{
    /// What contents are made of: slices of the upstream's chunks.
    public typealias Slice = Upstream.Element.SubSequence
    /// A part.
    public typealias Element = ReceivedPart<Slice>
    /// What reading can throw.
    public typealias Failure = MultipartError

    private let upstream: Upstream
    private let makeStream: (Upstream.AsyncIterator) throws(MultipartError) -> PartStream<Slice>

    /// A reader of a body with this Content-Type.
    ///
    /// - Parameters:
    ///   - upstream: The body's bytes.
    ///   - contentType: The subtype and the boundary.
    ///   - limits: How much is accepted.
    ///   - policies: How to take what the standards leave open; those of the subtype where nil.
    public init(
        _ upstream: Upstream,
        _ contentType: MultipartContentType,
        limits: ParserLimits,
        policies: ParserPolicies? = nil
    ) {
        self.upstream = upstream
        makeStream = { (chunks) throws(MultipartError) in
            PartStream(UpstreamSource(chunks), MultipartParser(contentType, limits: limits, policies: policies))
        }
    }

    /// A reader of a body with this Content-Type header.
    ///
    /// - Parameters:
    ///   - upstream: The body's bytes.
    ///   - contentType: The header's value; nil where there is no such header, which is an error.
    ///   - limits: How much is accepted.
    ///   - policies: How to take what the standards leave open; those of the subtype where nil.
    /// - Throws: As ``MultipartContentType/init(_:)`` does.
    public init(
        _ upstream: Upstream,
        contentType: String?,
        limits: ParserLimits,
        policies: ParserPolicies? = nil
    ) throws(MultipartError) {
        guard let contentType else { throw MultipartError(.notMultipart, "there is no Content-Type") }
        self.init(upstream, try MultipartContentType(contentType), limits: limits, policies: policies)
    }

    /// A reader of the parts in a part.
    init(
        _ upstream: Upstream,
        _ makeStream: @escaping (Upstream.AsyncIterator) throws(MultipartError) -> PartStream<Slice>
    ) {
        self.upstream = upstream
        self.makeStream = makeStream
    }

    /// Begins the reading.
    ///
    /// - Returns: An iterator.
    public func makeAsyncIterator() -> Iterator {
        do {
            return Iterator(.success(try makeStream(upstream.makeAsyncIterator())))
        } catch {
            return Iterator(.failure(error))
        }
    }

    /// One reading of the body.
    public struct Iterator: AsyncIteratorProtocol {
        private let stream: Result<PartStream<Slice>, MultipartError>

        init(_ stream: Result<PartStream<Slice>, MultipartError>) {
            self.stream = stream
        }

        /// The next part.
        ///
        /// - Parameter actor: The actor to stay on.
        /// - Returns: The part, or nil at the body's end.
        /// - Throws: ``MultipartError`` for what is wrong with the body, for what the upstream throws
        ///   (``MultipartError/Code/sourceFailed``), and where the task was cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(MultipartError) -> ReceivedPart<Slice>? {
            let stream = try stream.get()
            guard let (headers, turn) = try await stream.nextPart() else { return nil }
            return ReceivedPart(headers, stream, turn)
        }
    }
}
