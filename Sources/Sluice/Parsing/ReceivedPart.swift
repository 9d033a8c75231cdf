/// A part of a body that is being read: its headers, and its content as it arrives.
///
/// The content can be read once, and until the next part is asked for. What is not read is passed over then.
public struct ReceivedPart<Slice>
where
    Slice: RandomAccessCollection & RangeReplaceableCollection & Sendable,
    Slice.Element == UInt8,
    Slice.SubSequence == Slice
{
    /// The headers.
    public let headers: PartHeaders
    private let stream: PartStream<Slice>
    private let turn: Int

    init(_ headers: PartHeaders, _ stream: PartStream<Slice>, _ turn: Int) {
        self.headers = headers
        self.stream = stream
        self.turn = turn
    }

    /// The content.
    public var body: Body { Body(stream: stream, turn: turn, headers: headers) }

    /// The content as slices of the upstream's chunks, none of them empty.
    public struct Body: AsyncSequence {
        /// Bytes of the content.
        public typealias Element = Slice
        /// What reading can throw.
        public typealias Failure = MultipartError

        fileprivate let stream: PartStream<Slice>
        fileprivate let turn: Int
        fileprivate let headers: PartHeaders

        /// Begins the reading, which can be done once: a second iterator throws ``MultipartError/Code/outOfTurn``.
        ///
        /// - Returns: An iterator.
        public func makeAsyncIterator() -> Iterator {
            Iterator(content: self, isFirst: stream.claim(turn))
        }

        /// One reading of the content.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let content: Body
            private let isFirst: Bool

            fileprivate init(content: Body, isFirst: Bool) {
                self.content = content
                self.isFirst = isFirst
            }

            fileprivate func checkTurn() throws(MultipartError) {
                if isFirst { return }
                throw content.stream.inPart(
                    content.headers,
                    MultipartError(.outOfTurn, "the part is read already, or was passed; it can be read once")
                )
            }

            /// The next bytes.
            ///
            /// - Parameter actor: The actor to stay on.
            /// - Returns: The bytes, at least one, or nil at the content's end.
            /// - Throws: ``MultipartError`` for what is wrong with the body, and ``MultipartError/Code/outOfTurn`` where
            ///   the part was passed, or another iterator of it has been made before.
            public mutating func next(isolation actor: isolated (any Actor)?) async throws(MultipartError) -> Slice? {
                do throws(MultipartError) {
                    try checkTurn()
                    return try await content.stream.nextSlice(content.turn)
                } catch {
                    throw content.stream.inPart(content.headers, error)
                }
            }
        }
    }

    // MARK: Whole contents

    /// The whole content in memory.
    ///
    /// - Parameter limit: The most bytes; checked before they are kept.
    /// - Returns: The content.
    /// - Throws: ``MultipartError/Code/limitExceeded`` for a longer content, and what reading throws.
    public func collect(upTo limit: Int) async throws(MultipartError) -> [UInt8] {
        do { return try await PartContent.collect(body, upTo: limit) } catch { throw stream.inPart(headers, error) }
    }

    /// The whole content as text in UTF-8.
    ///
    /// - Parameter limit: The most bytes; checked before they are kept.
    /// - Returns: The text.
    /// - Throws: ``MultipartError/Code/limitExceeded`` for a longer content, ``MultipartError/Code/invalidText`` for what
    ///   is not UTF-8, and what reading throws.
    public func text(upTo limit: Int) async throws(MultipartError) -> String {
        do { return try await PartContent.text(body, upTo: limit) } catch { throw stream.inPart(headers, error) }
    }

    /// Writes the content to a file.
    ///
    /// It is written on one of a few threads that all saves share, to a file in the same directory that only its owner may read, which gets its
    /// name when all of the content is there. Where that fails or is cancelled, nothing is left. A symbolic link of that name
    /// is not followed: it counts as a file that is there. The file is not synchronised with the disk.
    ///
    /// - Parameters:
    ///   - path: The file's path. It is yours to choose; for one from the sender's filename see
    ///     ``PartHeaders/sanitizedFilename``.
    ///   - replacing: Whether a file of that name is replaced.
    /// - Returns: The bytes written.
    /// - Throws: ``MultipartError/Code/fileExists``, ``MultipartError/Code/openFailed`` and
    ///   ``MultipartError/Code/writeFailed`` with the system's error number, and what reading throws.
    @discardableResult
    public func save(to path: String, replacing: Bool = false) async throws(MultipartError) -> Int64 {
        do {
            return try await PartContent.save(body, to: path, replacing: replacing)
        } catch {
            throw stream.inPart(headers, error)
        }
    }

    // MARK: Compressed content

    /// The content decompressed, where it is gzip.
    ///
    /// Nothing is decompressed unasked: form-data has no encodings (RFC 7578 section 4.8). Ask for it where a part is known to
    /// be compressed, as by its `Content-Encoding` or its name.
    ///
    /// - Parameter limits: How much may come of it.
    /// - Returns: The decompressed content, which reads this part's ``body``.
    public func gunzipped(limits: GunzipLimits) -> GunzippedContent<Slice> {
        GunzippedContent(part: self, limits: limits)
    }

    /// The error, with this part named.
    func inPart(_ error: MultipartError) -> MultipartError {
        stream.inPart(headers, error)
    }

    // MARK: Nested multiparts

    /// The parts in this part, where it is a multipart itself.
    ///
    /// The body around it decides where this part ends, whatever is in it. Parts, headers and fields count towards the
    /// limits of the whole body, and so does the length; that of this part itself is then not limited.
    ///
    /// - Parameter policies: How to take what the standards leave open; those of the subtype where nil.
    /// - Returns: A reader of the parts, which are of this part's type; nil where this part is no multipart. Its iterator
    ///   throws ``MultipartError/Code/nestingTooDeep`` beyond ``ParserLimits/nestingDepth``.
    /// - Throws: As ``MultipartContentType/init(_:)`` does.
    public func parts(policies: ParserPolicies? = nil) throws(MultipartError) -> MultipartReader<Body>? {
        let contentType: MultipartContentType?
        do { contentType = try headers.nestedContentType } catch { throw stream.inPart(headers, error) }
        guard let contentType else { return nil }
        let (headers, stream) = (headers, stream)
        return MultipartReader(body) { (content) throws(MultipartError) in
            // Only the one reading of this very part may lift its limit, and not that of a part behind it.
            try content.checkTurn()
            let nested = try PartStream(UpstreamSource(content), contentType, in: headers, of: stream, policies)
            stream.liftPartLimit()
            return nested
        }
    }
}
