/// One reading of a body: a cursor that fills the caller's buffers.
///
/// File bytes go from the page cache straight into the buffer with one `pread`, bytes in memory with one `memcpy`;
/// there is no buffer in between. A reader is used by one thread at a time. Its file is closed when the reader leaves
/// the part, ends, throws, or is released.
public final class BodyReader {
    private let layout: BodyLayout
    private let end: Int64?
    private let origin: Int64
    private let interrupt: ReadInterrupt?

    /// The segment that the next byte is in, and the one that is not read any more.
    private var index: Int
    private let stop: Int
    private var offsetInSegment: Int64
    /// The bytes to read and drop before the next one counts: for a start that cannot be sought.
    private var toDiscard: Int64 = 0
    private var cursor: (any ByteCursor)?
    private var failure: MultipartError?
    private var absolutePosition: Int64
    /// By how many bytes the sources of the segments before this one were longer.
    private var passedSurplus: Int64 = 0
    /// How many bytes the last part has, and where they end, once they are behind.
    private var lastPart: (length: Int64, end: Int64)?

    /// Reads the layout's bytes `range`, or all of them, and calls `origin` position 0.
    init(_ layout: BodyLayout, range: Range<Int64>?, origin: Int64, interrupt: ReadInterrupt?) {
        self.layout = layout
        self.end = range?.upperBound
        self.origin = origin
        self.interrupt = interrupt
        stop = layout.segments.count
        absolutePosition = range?.lowerBound ?? 0
        index = layout.segmentIndex(at: absolutePosition)
        offsetInSegment = absolutePosition - (layout.segments[index].start ?? 0)
        if origin == 0 { passedSurplus = layout.sourceSurplus(before: index) }
        settleStart()
    }

    /// Reads whole segments, the first one from `offset` on; position 0 is the first one's start.
    init(_ layout: BodyLayout, segments: Range<Int>, offset: Int64 = 0, interrupt: ReadInterrupt?) {
        self.layout = layout
        self.interrupt = interrupt
        end = nil
        origin = 0
        absolutePosition = offset
        offsetInSegment = offset
        index = segments.lowerBound
        stop = segments.upperBound
        settleStart()
    }

    /// The offset in the body of the next byte, from 0.
    public var position: Int64 { absolutePosition + toDiscard - origin }

    /// The index in ``MultipartBody/parts`` of the part that the next byte belongs to, its head included; nil behind
    /// the last part.
    public var partIndex: Int? {
        index < layout.segments.count ? layout.segments[index].part : nil
    }

    /// Where a reader stands, for progress reports.
    package struct Mark: Sendable {
        /// The offset in the body of the next byte.
        package var position: Int64
        /// The part that the next byte belongs to; behind the last one that one, if this reader has come to its end.
        package var part: Int?
        /// How much of that part's content was read.
        package var offsetInPart: Int64
        /// The bytes between the last part's content, if that is behind, and the next byte.
        package var bytesBehindPart: Int64 = 0
        /// By how many bytes more than `position` the sources were read, because some are compressed; below 0 where
        /// headers and stored bytes outweigh what that saves.
        package var sourceSurplus: Int64 = 0
    }

    /// Where the reader stands.
    package var mark: Mark {
        let surplus = passedSurplus + surplusInSegment
        let part = partIndex
        if part == nil, let lastPart {
            return Mark(
                position: position,
                part: layout.labels.count - 1,
                offsetInPart: lastPart.length,
                bytesBehindPart: absolutePosition - lastPart.end,
                sourceSurplus: surplus
            )
        }
        var offsetInPart: Int64 = 0
        if index < layout.segments.count, case .content = layout.segments[index].kind { offsetInPart = offsetInSegment }
        return Mark(position: position, part: part, offsetInPart: offsetInPart, sourceSurplus: surplus)
    }

    /// By how many bytes more than were given of this segment its source was read.
    private var surplusInSegment: Int64 {
        guard layout.isCompressed, index < layout.segments.count else { return 0 }
        if let cursor = cursor as? GzipCursor { return cursor.sourceOffset - offsetInSegment }
        return layout.segments[index].sourceSurplus(at: offsetInSegment)
    }

    /// Whether the first read begins with bytes that nobody asked for, because a source cannot be opened further on.
    package var skipsToItsStart: Bool { toDiscard > 0 }

    /// Says whether the next read would wait for an async sequence.
    ///
    /// For bodies that wait for nothing else (``MultipartBody/waitsForSequencesOnly``), where nothing is to be skipped
    /// (``skipsToItsStart``).
    ///
    /// - Parameter notify: Called once when it would not wait any more, mostly from another thread.
    /// - Returns: False where it would wait; else nothing is called.
    package func isReady(notify: @escaping @Sendable () -> Void) -> Bool {
        guard failure == nil, index < stop, absolutePosition != end,
            case .content(.async(let source)) = layout.segments[index].kind,
            // What goes wrong is for the read to say.
            let handoff = try? openedCursor(.async(source)) as? AsyncHandoff
        else { return true }
        return handoff.isReady(notify: notify)
    }

    /// Reads the next bytes into a span.
    ///
    /// - Parameter buffer: Where the bytes are appended.
    /// - Returns: The number of bytes appended: at least one unless the span has no room, or 0 at the body's end.
    /// - Throws: ``MultipartError`` naming the part. A reader that has thrown throws the same error again.
    public func read(into buffer: inout OutputRawSpan) throws(MultipartError) -> Int {
        try unsafe buffer.withUnsafeMutableBytes { (bytes, initialized) throws(MultipartError) -> Int in
            let count = try unsafe read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[initialized...]))
            initialized += count
            return count
        }
    }

    /// Reads the next bytes into raw memory, for C callbacks and streams.
    ///
    /// - Parameter buffer: Where the bytes go, from its start.
    /// - Returns: The number of bytes: at least one unless the buffer is empty, or 0 at the body's end.
    /// - Throws: ``MultipartError`` naming the part. A reader that has thrown throws the same error again.
    public func read(into buffer: UnsafeMutableRawBufferPointer) throws(MultipartError) -> Int {
        if let failure { throw failure }
        do {
            try interrupt?.check()
            if toDiscard > 0 { try discard() }
            let count = unsafe try fill(buffer)
            // A slice ends within a part, which the reader would otherwise hold open until it is released.
            if absolutePosition == end { cursor = nil }
            return count
        } catch {
            let error = error.inPart(partIndex.map { layout.labels[$0] })
            failure = error
            cursor = nil
            throw error
        }
    }

    /// Reads the next bytes onto the end of an array, straight into its storage.
    ///
    /// - Returns: The number of bytes, 0 only at the body's end.
    func read(appendingTo bytes: inout [UInt8], upTo count: Int) throws(MultipartError) -> Int {
        let before = bytes.count
        // No more room than there can be bytes for: an array keeps all that it asked for.
        let count = Int(min(Int64(count), (end ?? .max) - absolutePosition))
        // To ask an array for no room at all writes to the empty one that all threads share.
        guard count > 0 else { return 0 }
        try bytes.append(addingCapacity: count) { (span) throws(MultipartError) in
            try unsafe span.withUnsafeMutableBufferPointer { (buffer, initialized) throws(MultipartError) in
                let room = unsafe UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(buffer)[initialized...]
                )
                initialized += unsafe try read(into: .init(rebasing: room[..<min(count, room.count)]))
            }
        }
        return bytes.count - before
    }

    private func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(MultipartError) -> Int {
        let room = min(Int64(buffer.count), (end ?? .max) - absolutePosition)
        var filled = 0
        while filled < Int(room), index < stop {
            let target = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<Int(room)])
            let segment = layout.segments[index]
            let wanted = segment.length.map { min(Int64(target.count), $0 - offsetInSegment) } ?? Int64(target.count)
            let count: Int
            var isShort = false
            switch segment.kind {
            case .rendered(let start):
                count = unsafe layout.rendered.withUnsafeBytes { bytes in
                    let first = start + Int(offsetInSegment)
                    unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[first..<first + Int(wanted)]))
                    return Int(wanted)
                }
            case .content(.memory(let bytes)):
                count = unsafe bytes.copy(from: Int(offsetInSegment), into: target)
            case .content(let content):
                // What is there already goes out before a wait for more.
                if filled > 0, content.mayBlock { return filled }
                count = try unsafe read(content, segment, into: .init(rebasing: target.prefix(Int(wanted))))
                isShort = count < Int(wanted)
            }
            filled += count
            offsetInSegment += Int64(count)
            absolutePosition += Int64(count)
            if case .content(.async) = segment.kind, count > 0, offsetInSegment == segment.length {
                // The next read sees to it that the sequence has ended, too; these bytes do not wait for that.
                return filled
            }
            if offsetInSegment == segment.length || (count == 0 && segment.length == nil) {
                nextSegment()
            } else if isShort {
                // A source that gave less than there was room for has its reasons: nothing more yet, or alignment.
                return filled
            }
        }
        return filled
    }

    /// Reads from a source, which is opened if need be.
    ///
    /// - Returns: 0 at the end of a source of unknown length, and for a source that has no bytes.
    private func read(
        _ content: Content,
        _ segment: BodyLayout.Segment,
        into target: UnsafeMutableRawBufferPointer
    ) throws(MultipartError) -> Int {
        let cursor = try openedCursor(content)
        guard unsafe !target.isEmpty else {
            try (cursor as? AsyncHandoff)?.finish()
            return 0
        }
        let count = try unsafe cursor.read(into: target)
        if count == 0, let length = segment.length { throw .endedEarly(offsetInSegment, of: length) }
        return count
    }

    private func openedCursor(_ content: Content) throws(MultipartError) -> any ByteCursor {
        if let cursor { return cursor }
        let opened = try content.open(at: offsetInSegment, interrupt: interrupt)
        cursor = opened
        return opened
    }

    private func nextSegment() {
        // Behind the last part's content there are delimiters only, which are one segment.
        if index == layout.segments.count - 2, case .content = layout.segments[index].kind {
            lastPart = (offsetInSegment, absolutePosition)
        }
        passedSurplus += surplusInSegment
        cursor = nil
        index += 1
        offsetInSegment = 0
    }

    /// Finds out what the start means for the segment it lies in.
    private func settleStart() {
        guard offsetInSegment > 0 else { return }
        let segment = layout.segments[index]
        if offsetInSegment == segment.length {
            nextSegment()
        } else if case .content(let content) = segment.kind, content.replay != .seekable || segment.length == nil {
            // Nor can a source of unknown length be sought in: the offset may lie behind its end.
            let start =
                segment.length == nil && content.replay == .seekable
                ? 0 : content.openableOffset(before: offsetInSegment)
            toDiscard = offsetInSegment - start
            absolutePosition -= toDiscard
            offsetInSegment = start
        }
    }

    /// Reads and drops what comes before the offset at which this reader is to start.
    private func discard() throws(MultipartError) {
        try unsafe withUnsafeTemporaryAllocation(byteCount: 64 * 1024, alignment: 16) {
            (scratch) throws(MultipartError) in
            while toDiscard > 0 {
                try interrupt?.check()
                let wanted = Int(min(Int64(scratch.count), toDiscard))
                let count = unsafe try fill(UnsafeMutableRawBufferPointer(rebasing: scratch[..<wanted]))
                if count == 0 {
                    throw MultipartError(
                        .invalidRange,
                        "the body ends at \(position - toDiscard), before the offset \(position)"
                    )
                }
                toDiscard -= Int64(count)
            }
        }
    }
}
