/// One reading of a gzip member (RFC 1952): its header, its blocks one behind the other, its trailer.
///
/// Blocks are written into the caller's buffer where it has room for any block, which one of 256 KiB has; else into a
/// buffer of the cursor's, from which they are copied.
// @safe: the pointer is allocated and freed here and never leaves the class.
@safe
final class GzipCursor: ByteCursor {
    private let blocks: any CompressedBlocks
    private let restartPoints: RestartPoints?
    private let expected: GzipExtent?
    /// The room for a block, with header and trailer.
    private let bound: Int

    /// Where the member stands behind what was made of it.
    private var point: RestartPoint
    private var isAtEnd = false
    /// The bytes that are still to be dropped.
    private var toSkip: Int64
    /// The offset in the member of the next byte to be given.
    private var position: Int64

    private var spare: UnsafeMutableRawBufferPointer?
    /// What of the spare buffer is still to be given.
    private var pending = 0..<0

    private var failure: MultipartError?

    /// The bytes of the source that went into what was given.
    var sourceOffset: Int64 { point.sourceOffset }

    /// - Parameters:
    ///   - blocks: The blocks from the point on.
    ///   - largestBlock: The most bytes that one of them had before.
    ///   - point: Where to begin.
    ///   - offset: The offset in the member of the first byte to give.
    ///   - expected: What must come of it, if that is known.
    ///   - restartPoints: Takes the places that are passed.
    init(
        _ blocks: any CompressedBlocks,
        largestBlock: Int,
        from point: RestartPoint,
        startingAt offset: Int64,
        expecting expected: GzipExtent?,
        restartPoints: RestartPoints?
    ) {
        self.blocks = blocks
        self.point = point
        self.expected = expected
        self.restartPoints = restartPoints
        bound =
            BlockCompressor.bound(largestBlock) + DeflateFormat.header.count
            + DeflateFormat.trailer(checksum: 0, length: 0).count
        toSkip = offset - point.offset
        position = offset
    }

    deinit { unsafe spare?.deallocate() }

    func read(into buffer: inout OutputRawSpan) throws(MultipartError) {
        if let failure { throw failure }
        do throws(MultipartError) {
            try skip()
            try unsafe buffer.withUnsafeMutableBytes { (bytes, initialized) throws(MultipartError) in
                initialized += unsafe try fill(UnsafeMutableRawBufferPointer(rebasing: bytes[initialized...]))
            }
        } catch {
            failure = error
            throw error
        }
    }

    /// What the whole reading gave, once it is at its end.
    var extent: GzipExtent {
        GzipExtent(length: point.offset, sourceLength: point.sourceOffset, checksum: point.checksum)
    }

    private func fill(_ room: UnsafeMutableRawBufferPointer) throws(MultipartError) -> Int {
        var filled = 0
        while filled < room.count, !isAtEnd || !pending.isEmpty {
            let target = unsafe UnsafeMutableRawBufferPointer(rebasing: room[filled...])
            if !pending.isEmpty {
                filled += unsafe takePending(into: target)
            } else if target.count >= bound {
                filled += unsafe try produce(into: target)
            } else if filled > 0 {
                break
            } else {
                try producePending()
            }
        }
        position += Int64(filled)
        try checkLength()
        return filled
    }

    // MARK: The spare buffer

    private func producePending() throws(MultipartError) {
        let buffer: UnsafeMutableRawBufferPointer
        if let spare = unsafe spare {
            unsafe buffer = unsafe spare
        } else {
            unsafe buffer = .allocate(byteCount: bound, alignment: 16)
            unsafe spare = unsafe buffer
        }
        pending = 0..<(unsafe try produce(into: buffer))
    }

    private func takePending(into target: UnsafeMutableRawBufferPointer) -> Int {
        guard let spare = unsafe spare else { return 0 }
        let taken = pending.prefix(target.count)
        unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: spare[taken]))
        pending = pending.dropFirst(taken.count)
        return taken.count
    }

    /// Drops what comes before the first byte to give.
    private func skip() throws(MultipartError) {
        while toSkip > 0, !isAtEnd || !pending.isEmpty {
            if pending.isEmpty { try producePending() }
            let dropped = min(Int64(pending.count), toSkip)
            pending = pending.dropFirst(Int(dropped))
            toSkip -= dropped
        }
    }

    // MARK: The member

    /// Makes the next block, with the header before the first and the trailer behind the last.
    private func produce(into target: UnsafeMutableRawBufferPointer) throws(MultipartError) -> Int {
        var count = 0
        if point.offset == 0 { unsafe Self.append(DeflateFormat.header, to: target, &count) }
        let block = unsafe try blocks.next(into: UnsafeMutableRawBufferPointer(rebasing: target[count...]))
        count += block.count
        point.sourceOffset += Int64(block.inputCount)
        point.checksum = Checksum.combine(point.checksum, block.checksum, count: block.inputCount)
        if block.isLast {
            isAtEnd = true
            try checkSource()
            unsafe Self.append(
                DeflateFormat.trailer(checksum: point.checksum, length: point.sourceOffset),
                to: target,
                &count
            )
        }
        point.offset += Int64(count)
        if !block.isLast { restartPoints?.add(point) }
        return count
    }

    private static func append(_ bytes: [UInt8], to target: UnsafeMutableRawBufferPointer, _ count: inout Int) {
        unsafe UnsafeMutableRawBufferPointer(rebasing: target[count...]).copyBytes(from: bytes)
        count += bytes.count
    }

    // MARK: What was measured before

    private func checkSource() throws(MultipartError) {
        guard let expected else { return }
        if point.sourceOffset != expected.sourceLength || point.checksum != expected.checksum {
            throw changed("\(point.sourceOffset) bytes with another checksum")
        }
    }

    /// The member must end just where it was measured to.
    private func checkLength() throws(MultipartError) {
        guard let expected else { return }
        let hasEnded = isAtEnd && pending.isEmpty
        if position == expected.length ? !hasEnded : hasEnded { throw changed("another number of compressed bytes") }
    }

    private func changed(_ what: String) -> MultipartError {
        MultipartError(
            .contentChanged,
            "the source gave \(what) than when it was measured (\(expected?.sourceLength ?? 0) bytes); "
                + "do not change it while it is sent, or use the length .spooled"
        )
    }
}

/// What compressing a content all through gave.
struct GzipExtent: Sendable {
    /// The compressed bytes.
    let length: Int64
    /// The bytes of the source, and their checksum.
    let sourceLength: Int64
    let checksum: UInt32
}
