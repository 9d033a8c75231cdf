/// The content of a part that is gzip, decompressed as it arrives.
///
/// One or more gzip members, one behind the other, and nothing else: what is cut off, damaged, or followed by something
/// that is not gzip is an error, and so is more than the limits allow. Memory is 40 KiB and a chunk.
public struct GunzippedContent<Slice>: AsyncSequence
where
    Slice: RandomAccessCollection & RangeReplaceableCollection & Sendable,
    Slice.Element == UInt8,
    Slice.SubSequence == Slice
{
    /// Decompressed bytes, at least one and at most 64 KiB.
    public typealias Element = [UInt8]
    /// What reading can throw.
    public typealias Failure = MultipartError

    let part: ReceivedPart<Slice>
    let limits: GunzipLimits

    /// Begins the reading, which can be done once.
    ///
    /// - Returns: An iterator.
    public func makeAsyncIterator() -> Iterator {
        Iterator(part: part, compressed: part.body.makeAsyncIterator(), state: GunzipState(limits))
    }

    /// One reading of the content.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let part: ReceivedPart<Slice>
        fileprivate var compressed: ReceivedPart<Slice>.Body.Iterator
        fileprivate var state: GunzipState

        /// The next bytes.
        ///
        /// - Parameter actor: The actor to stay on.
        /// - Returns: The bytes, at least one, or nil at the content's end.
        /// - Throws: ``MultipartError/Code/invalidGzip``, ``MultipartError/Code/inflatedTooLarge``,
        ///   ``MultipartError/Code/inflatedTooMuch``, and what reading the part throws.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(MultipartError) -> [UInt8]? {
            do throws(MultipartError) {
                while true {
                    if let bytes = try state.next() { return bytes }
                    guard let slice = try await compressed.next(isolation: actor) else {
                        try state.finish()
                        return nil
                    }
                    state.feed(HeldBytes(collecting: slice))
                }
            } catch {
                throw part.inPart(error)
            }
        }
    }

    /// The whole content in memory.
    ///
    /// - Parameter limit: The most bytes; checked before they are kept.
    /// - Returns: The content.
    /// - Throws: ``MultipartError/Code/limitExceeded`` for a longer content, and what reading throws.
    public func collect(upTo limit: Int) async throws(MultipartError) -> [UInt8] {
        do { return try await PartContent.collect(self, upTo: limit) } catch { throw part.inPart(error) }
    }

    /// The whole content as text in UTF-8.
    ///
    /// - Parameter limit: The most bytes; checked before they are kept.
    /// - Returns: The text.
    /// - Throws: As ``ReceivedPart/text(upTo:)`` does, and what reading throws.
    public func text(upTo limit: Int) async throws(MultipartError) -> String {
        do { return try await PartContent.text(self, upTo: limit) } catch { throw part.inPart(error) }
    }

    /// Writes the content to a file, as ``ReceivedPart/save(to:replacing:)`` does.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - replacing: Whether a file of that name is replaced.
    /// - Returns: The bytes written.
    /// - Throws: As ``ReceivedPart/save(to:replacing:)`` does, and what reading throws.
    @discardableResult
    public func save(to path: String, replacing: Bool = false) async throws(MultipartError) -> Int64 {
        do {
            return try await PartContent.save(self, to: path, replacing: replacing)
        } catch {
            throw part.inPart(error)
        }
    }
}
