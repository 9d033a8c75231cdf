/// What a reader, its parts and their contents share: the parser, the upstream, and whose turn it is.
///
/// It is not sendable, so the compiler sees to it that one task at a time uses it. Two that take turns at their awaits (in
/// an actor) are told apart by `isBusy`.
final class PartStream<Slice>
where
    Slice: RandomAccessCollection & RangeReplaceableCollection & Sendable,
    Slice.Element == UInt8,
    Slice.SubSequence == Slice
{
    private var upstream: (any SliceSource<Slice>)?
    private var parser: MultipartParser
    private var chunk: Chunk?
    /// Which part may be read: the number of those that have begun.
    private var turn = 0
    private var isPartOpen = false
    private var isClaimed = false
    private var isBusy = false
    private var isAtEnd = false
    private var failure: MultipartError?
    /// The stream of the part that this one's parts are in.
    private let parent: PartStream?
    /// That stream's turn in which this one's parts can be read.
    private let parentTurn: Int
    /// How many multiparts this one is in, itself included.
    private let depth: Int
    private let enclosing: [String]
    /// The part that this one's parts are in.
    private let container: MultipartError.PartLabel?

    private struct Chunk {
        let slice: Slice
        /// The same bytes, where the slice has them in pieces.
        let copy: [UInt8]?

        init(_ slice: Slice) {
            self.slice = slice
            copy = slice.withContiguousStorageIfAvailable { _ in true } == nil ? Array(slice) : nil
        }
    }

    init(_ upstream: any SliceSource<Slice>, _ parser: consuming MultipartParser) {
        self.upstream = upstream
        self.parser = parser
        parent = nil
        parentTurn = 0
        depth = 1
        enclosing = []
        container = nil
    }

    /// A stream of the parts in the part that is read from `parent`.
    ///
    /// - Throws: Where that is one too many inside each other.
    init(
        _ upstream: any SliceSource<Slice>,
        _ contentType: MultipartContentType,
        in headers: PartHeaders,
        of parent: PartStream,
        _ policies: ParserPolicies?
    ) throws(MultipartError) {
        self.upstream = upstream
        self.parent = parent
        parentTurn = parent.turn
        depth = parent.depth + 1
        let label = headers.label
        enclosing = parent.enclosing + [label.ownDescription]
        container = MultipartError.PartLabel(index: label.index, name: label.name, enclosing: parent.enclosing)
        parser = MultipartParser(contentType, limits: parent.parser.limits, policies: policies)
        guard depth <= parent.parser.limits.nestingDepth else {
            throw parent.inPart(
                headers,
                MultipartError(
                    .nestingTooDeep,
                    "multiparts are nested deeper than \(parent.parser.limits.nestingDepth)",
                    byteOffset: headers.contentOffset
                )
            )
        }
        parser.begin(at: headers.contentOffset, parent.parser.usage)
    }

    /// The parser's limits.
    var limits: ParserLimits { parser.limits }

    // MARK: Parts

    /// The next part's headers, after passing over what is left of the one before; nil at the end.
    func nextPart() async throws(MultipartError) -> (headers: PartHeaders, turn: Int)? {
        while true {
            switch try await nextEvent() {
            case .partBegan(let headers):
                turn += 1
                isPartOpen = true
                isClaimed = false
                return (headers, turn)
            case .partEnded: isPartOpen = false
            case .body, .heldBody: continue
            case .end: upstream = nil
            case nil: return nil
            }
        }
    }

    // MARK: Contents

    /// Whether an iterator may read the part: whether it is the first one, and the part's turn has not passed.
    func claim(_ turn: Int) -> Bool {
        guard turn == self.turn, !isClaimed else { return false }
        isClaimed = true
        return true
    }

    /// The next bytes of the part's content; nil at its end.
    func nextSlice(_ turn: Int) async throws(MultipartError) -> Slice? {
        guard turn == self.turn else {
            throw MultipartError(.outOfTurn, "the part was passed; read its content before asking for the next part")
        }
        while isPartOpen {
            switch try await nextEvent() {
            case .body(let range):
                if let slice = chunk?.slice {
                    let start = slice.index(slice.startIndex, offsetBy: range.lowerBound)
                    return slice[start..<slice.index(start, offsetBy: range.count)]
                }
            case .heldBody(let range): return Slice(parser.heldBytes[range])
            case .partEnded, .end, nil: isPartOpen = false
            case .partBegan: continue
            }
        }
        return nil
    }

    /// Lets the open part be as long as the body, because its own parts have limits.
    func liftPartLimit() {
        parser.liftPartLimit()
    }

    /// The error, with the part named.
    func inPart(_ headers: PartHeaders, _ error: MultipartError) -> MultipartError {
        let label = headers.label
        return error.inPart(MultipartError.PartLabel(index: label.index, name: label.name, enclosing: enclosing))
    }

    // MARK: Implementation

    private func nextEvent() async throws(MultipartError) -> MultipartParser.Event? {
        if let failure { throw failure }
        guard !isBusy else {
            throw MultipartError(.outOfTurn, "two tasks read the same multipart body; one has to wait for the other")
        }
        // What it read ahead is no reason to go on, and to count, behind the parser of the body around it.
        guard !isPassed || parser.state == .ended else {
            throw MultipartError(
                .outOfTurn,
                "the part around it was passed; read the parts in a part before asking for the next one"
            ).inPart(container)
        }
        isBusy = true
        defer { isBusy = false }
        do {
            let event = try await pull()
            parent?.take(parser.usage)
            return event
        } catch {
            var error = error.inPart(container)
            if let label = error.part, label != container, label.enclosing.isEmpty {
                error.part = MultipartError.PartLabel(index: label.index, name: label.name, enclosing: enclosing)
            }
            failure = error
            upstream = nil
            chunk = nil
            throw error
        }
    }

    private func pull() async throws(MultipartError) -> MultipartParser.Event? {
        while true {
            if let chunk {
                if let event = try next(in: chunk) { return event }
                self.chunk = nil
            }
            if isAtEnd { return try parser.finish() }
            guard let upstream else { return nil }
            if let slice = try await Self.receive(from: upstream) {
                chunk = Chunk(slice)
            } else {
                isAtEnd = true
            }
        }
    }

    private func next(in chunk: Chunk) throws(MultipartError) -> MultipartParser.Event? {
        func next(in bytes: UnsafeBufferPointer<UInt8>) -> Result<MultipartParser.Event?, MultipartError> {
            do throws(MultipartError) {
                return .success(try parser.next(in: unsafe UnsafeRawBufferPointer(bytes).bytes))
            } catch {
                return .failure(error)
            }
        }
        let result =
            if let copy = chunk.copy {
                unsafe copy.withUnsafeBufferPointer { unsafe next(in: $0) }
            } else {
                chunk.slice.withContiguousStorageIfAvailable { unsafe next(in: $0) } ?? .success(nil)
            }
        return try result.get()
    }

    /// The next chunk that is not empty; nil at the end.
    private static func receive(from upstream: any SliceSource<Slice>) async throws(MultipartError) -> Slice? {
        for _ in 0..<mostEmptyChunks {
            if Task.isCancelled { throw .cancelledRead }
            guard let slice = try await upstream.next() else {
                // To a cancelled task, an AsyncStream ends: that is not the end of the bytes.
                if Task.isCancelled { throw .cancelledRead }
                return nil
            }
            if !slice.isEmpty { return slice }
        }
        throw MultipartError(.sourceFailed, "the upstream gave \(mostEmptyChunks) empty chunks one after the other")
    }

    private static var mostEmptyChunks: Int { 10_000 }

    /// Whether the part that this stream's parts are in was passed, or one around it.
    private var isPassed: Bool {
        guard let parent else { return false }
        return parent.turn != parentTurn || parent.isPassed
    }

    private func take(_ usage: MultipartParser.Usage) {
        parser.usage.raise(to: usage)
        parent?.take(usage)
    }
}

/// Where a stream's chunks come from.
protocol SliceSource<Slice>: AnyObject {
    associatedtype Slice
    func next() async throws(MultipartError) -> Slice?
}

/// The chunks of an async sequence, whole.
final class UpstreamSource<Iterator: AsyncIteratorProtocol>: SliceSource where Iterator.Element: Collection {
    private var iterator: Iterator

    init(_ iterator: Iterator) {
        self.iterator = iterator
    }

    func next() async throws(MultipartError) -> Iterator.Element.SubSequence? {
        do {
            return try await iterator.next(isolation: #isolation)?[...]
        } catch {
            throw .fromSource(error)
        }
    }
}
