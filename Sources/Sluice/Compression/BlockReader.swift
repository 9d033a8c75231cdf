/// Cuts a content into blocks of one size, however its reads come out.
///
/// Bytes in memory are lent as they are; everything else is read straight into the buffer of whoever asks. Used by one
/// thread at a time: with several workers, by the one whose turn it is.
final class BlockReader {
    private let content: Content
    /// The content's length, asked for once, lest a source of the caller's changes its mind.
    private let length: Int64?
    private let blockSize: Int
    private let interrupt: ReadInterrupt?
    /// The offset of the next byte to be read.
    private var offset: Int64
    private var cursor: (any ByteCursor)?
    /// What the last block lies in, whose end is the next one's history.
    ///
    /// Its worker fills it again only in a turn of its own, so that it holds still for the time of a turn.
    private var last: BlockBuffer?
    private var isAtEnd = false

    /// - Parameters:
    ///   - content: What to read.
    ///   - length: Its length, where known.
    ///   - offset: Where to start; 0 unless the content is ``Replay/seekable``.
    ///   - blockSize: The bytes of every block but the last.
    ///   - interrupt: Ends a read that waits.
    init(_ content: Content, _ length: Int64?, at offset: Int64, blockSize: Int, interrupt: ReadInterrupt?) {
        self.content = content
        self.length = length
        self.offset = offset
        self.blockSize = blockSize
        self.interrupt = interrupt
    }

    /// The next block; the last one has fewer bytes than the others, and none where the content ends with a full one.
    ///
    /// - Parameter buffer: Where to read it to, unless it is in memory already.
    /// - Returns: The block, which holds the buffer.
    /// - Throws: What the content's cursor throws, and ``MultipartError/Code/lengthMismatch`` where it ends too early.
    func next(into buffer: BlockBuffer) throws(MultipartError) -> InputBlock {
        if case .memory(let bytes) = content {
            let start = Int(offset)
            let end = min(start + blockSize, bytes.count)
            let history = min(start, DeflateFormat.windowSize)
            offset = Int64(end)
            return InputBlock(
                place: .held(bytes, start - history..<end),
                historyCount: history,
                isLast: end - start < blockSize
            )
        }
        var history = buffer.begin(withEndOf: last)
        if last == nil, offset > 0 { history = try readHistory(into: buffer) }
        last = buffer
        let count = try fill(buffer, upTo: blockSize)
        if count < blockSize { close() }
        return InputBlock(place: .buffer(buffer), historyCount: history, isLast: count < blockSize)
    }

    /// Closes the source.
    func close() {
        cursor = nil
        last = nil
    }

    /// Reads what comes before the offset to start at.
    private func readHistory(into buffer: BlockBuffer) throws(MultipartError) -> Int {
        let count = Int(min(offset, Int64(DeflateFormat.windowSize)))
        offset -= Int64(count)
        return try fill(buffer, upTo: count)
    }

    /// Reads until there are as many bytes as asked for, or the content is at its end.
    private func fill(_ buffer: BlockBuffer, upTo limit: Int) throws(MultipartError) -> Int {
        let cursor = try openedCursor()
        var filled = 0
        while filled < limit, !isAtEnd {
            try interrupt?.check()
            let wanted = min(Int64(limit - filled), (length ?? .max) - offset)
            let count = unsafe try buffer.append(upTo: Int(wanted)) { (room) throws(MultipartError) in
                unsafe try room.isEmpty ? 0 : cursor.read(into: room)
            }
            if count == 0 { try end(cursor) }
            filled += count
            offset += Int64(count)
        }
        return filled
    }

    private func openedCursor() throws(MultipartError) -> any ByteCursor {
        if let cursor { return cursor }
        let opened = try content.open(at: offset, interrupt: interrupt)
        cursor = opened
        return opened
    }

    private func end(_ cursor: any ByteCursor) throws(MultipartError) {
        if let length {
            guard offset == length else { throw .endedEarly(offset, of: length) }
            try (cursor as? AsyncHandoff)?.finish()
        }
        isAtEnd = true
    }
}
