/// Compresses blocks, each for itself: what comes out depends on the block, the 32 KiB before it and the level alone.
///
/// Used by one thread at a time.
final class BlockCompressor {
    private let deflater: Deflater?
    private let estimate = CompressionEstimate()

    /// - Parameter level: 0 to 9, where 0 stores everything.
    /// - Throws: ``MultipartError/Code/resourcesExhausted`` where there is no memory.
    init(level: Int) throws(MultipartError) {
        deflater = level > 0 ? try Deflater(level: level) : nil
    }

    /// The room that a block of `count` bytes needs.
    static func bound(_ count: Int) -> Int {
        max(DeflateFormat.storedSize(count), DeflateFormat.emptyLastBlock.count)
    }

    /// Compresses a block, or stores it where that takes no more.
    ///
    /// - Parameters:
    ///   - block: The block.
    ///   - target: Room for ``bound(_:)`` bytes.
    /// - Returns: How many bytes were written, and of what.
    /// - Throws: ``MultipartError/Code/compressionFailed`` where zlib fails.
    func compress(
        _ block: InputBlock,
        into target: UnsafeMutableRawBufferPointer
    ) throws(MultipartError) -> CompressedBlock {
        let result = unsafe block.withBytes { bytes, start in
            Result { () throws(MultipartError) in
                unsafe try compress(bytes, from: start, isLast: block.isLast, into: target)
            }
        }
        return try result.get()
    }

    private func compress(
        _ bytes: UnsafeRawBufferPointer,
        from start: Int,
        isLast: Bool,
        into target: UnsafeMutableRawBufferPointer
    ) throws(MultipartError) -> CompressedBlock {
        let block = unsafe UnsafeRawBufferPointer(rebasing: bytes[start...])
        guard unsafe !block.isEmpty else {
            unsafe target.copyBytes(from: DeflateFormat.emptyLastBlock)
            return CompressedBlock(
                count: DeflateFormat.emptyLastBlock.count,
                inputCount: 0,
                checksum: Checksum.ofNothing,
                isLast: isLast
            )
        }
        return unsafe CompressedBlock(
            count: try deflate(bytes, block, start, isLast, target)
                ?? DeflateFormat.store(block, isLast: isLast, into: target),
            inputCount: block.count,
            checksum: Checksum.of(block),
            isLast: isLast
        )
    }

    private func deflate(
        _ bytes: UnsafeRawBufferPointer,
        _ block: UnsafeRawBufferPointer,
        _ start: Int,
        _ isLast: Bool,
        _ target: UnsafeMutableRawBufferPointer
    ) throws(MultipartError) -> Int? {
        guard let deflater, unsafe estimate.isWorthDeflating(bytes, from: start) else { return nil }
        return unsafe try deflater.compress(
            block,
            after: UnsafeRawBufferPointer(rebasing: bytes[..<start]),
            isLast: isLast,
            into: UnsafeMutableRawBufferPointer(rebasing: target[..<DeflateFormat.storedSize(block.count)])
        )
    }
}

/// A block that was compressed.
struct CompressedBlock: Sendable {
    /// The bytes it has now.
    let count: Int
    /// The bytes it had before.
    let inputCount: Int
    /// The checksum of those.
    let checksum: UInt32
    /// Whether it is the stream's last.
    let isLast: Bool
}
