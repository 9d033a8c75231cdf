/// Bytes that an async sequence gives in chunks: an incoming request's body, a file read elsewhere, a decoder.
///
/// Async sinks (``MultipartBody/chunks(ofSize:progress:)``) await the sequence itself and pass its bytes on. Synchronous sinks
/// read it through a hand-off of one chunk: the sequence is asked for the next chunk only when the reader has taken
/// the one before. A reader that is closed or interrupted cancels the sequence's task, and an error of the sequence
/// is thrown by the reader.
///
/// - Important: A synchronous read waits for the sequence, so it must not run on Swift's shared thread pool, whose
///   threads the sequence itself may need.
public struct AsyncSource: Sendable {
    /// The number of bytes, where it is known.
    public let knownLength: Int64?
    /// How often the sequence can be made.
    public let replay: Replay
    private let makeChunks: @Sendable () throws(MultipartError) -> any ChunkIterator

    /// A sequence that can be iterated once.
    ///
    /// - Parameters:
    ///   - sequence: Chunks of bytes; `[UInt8]` and its slices are held without a copy.
    ///   - knownLength: The number of bytes, where it is known; other than exactly as many are then an error.
    public init<Chunks: AsyncSequence & Sendable>(_ sequence: Chunks, knownLength: Int64? = nil)
    where Chunks.Element: Collection, Chunks.Element.Element == UInt8 {
        let unused = OnceOnly(sequence)
        self.knownLength = knownLength
        replay = .once
        makeChunks = { () throws(MultipartError) in
            SequenceChunks(try unused.take().makeAsyncIterator(), knownLength)
        }
    }

    /// A sequence that a factory makes anew for each reading.
    ///
    /// - Parameters:
    ///   - knownLength: The number of bytes, where it is known; other than exactly as many are then an error.
    ///   - factory: Makes the sequence, from its first byte. Each must give the same bytes.
    /// - Returns: A source that can be read any number of times, from the start.
    public static func restartable<Chunks: AsyncSequence & Sendable>(
        knownLength: Int64? = nil,
        _ factory: @escaping @Sendable () throws -> Chunks
    ) -> AsyncSource where Chunks.Element: Collection, Chunks.Element.Element == UInt8 {
        AsyncSource(knownLength: knownLength, replay: .restartable) { () throws(MultipartError) in
            do { return SequenceChunks(try factory().makeAsyncIterator(), knownLength) } catch {
                throw .fromSource(error)
            }
        }
    }

    private init(
        knownLength: Int64?,
        replay: Replay,
        _ makeChunks: @escaping @Sendable () throws(MultipartError) -> any ChunkIterator
    ) {
        self.knownLength = knownLength
        self.replay = replay
        self.makeChunks = makeChunks
    }

    /// Begins a reading.
    func chunks() throws(MultipartError) -> any ChunkIterator {
        try makeChunks()
    }

    /// The source for those who cannot await: a cursor that waits for the sequence in a task of its own.
    func open(interrupt: ReadInterrupt?) throws(MultipartError) -> any ByteCursor {
        AsyncHandoff(self, interrupt: interrupt)
    }
}

/// One reading of an async source.
protocol ChunkIterator: AnyObject {
    /// The next bytes, never none of them, or nil at the end.
    func next() async throws(MultipartError) -> HeldBytes?
}

private final class SequenceChunks<Iterator: AsyncIteratorProtocol>: ChunkIterator
where Iterator.Element: Collection, Iterator.Element.Element == UInt8 {
    private var iterator: Iterator
    private let knownLength: Int64?
    private var received: Int64 = 0

    init(_ iterator: Iterator, _ knownLength: Int64?) {
        self.iterator = iterator
        self.knownLength = knownLength
    }

    func next() async throws(MultipartError) -> HeldBytes? {
        let chunk: HeldBytes?
        do {
            chunk = try await nextNonEmpty()
        } catch {
            throw .fromSource(error)
        }
        // To a cancelled task, an AsyncStream ends: that is not the end of the bytes.
        if chunk == nil, Task.isCancelled { throw .cancelledRead }
        received += Int64(chunk?.count ?? 0)
        if let knownLength, chunk == nil ? received < knownLength : received > knownLength {
            throw MultipartError(
                .lengthMismatch,
                "the sequence gave \(received) bytes\(chunk == nil ? "" : " or more") and \(knownLength) were declared"
            )
        }
        return chunk
    }

    private func nextNonEmpty() async throws -> HeldBytes? {
        while let chunk = try await iterator.next(isolation: #isolation) {
            if !chunk.isEmpty { return HeldBytes(collecting: chunk) }
        }
        return nil
    }
}
