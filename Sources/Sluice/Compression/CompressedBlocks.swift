/// The blocks of a content, compressed, in order.
protocol CompressedBlocks: AnyObject {
    /// The next block; not to be asked for behind the last one.
    ///
    /// - Parameter target: Where its bytes go, with room for any block.
    /// - Returns: What was written.
    /// - Throws: What reading the source and compressing throw.
    func next(into target: UnsafeMutableRawBufferPointer) throws(MultipartError) -> CompressedBlock
}

/// Compresses each block when it is asked for, straight to where it is wanted.
final class SerialBlocks: CompressedBlocks {
    private let reader: BlockReader
    private let compressor: BlockCompressor
    private let buffer: BlockBuffer

    init(_ reader: BlockReader, level: Int, largestBlock: Int) throws(MultipartError) {
        self.reader = reader
        compressor = try BlockCompressor(level: level)
        buffer = BlockBuffer(blockSize: largestBlock)
    }

    func next(into target: UnsafeMutableRawBufferPointer) throws(MultipartError) -> CompressedBlock {
        unsafe try compressor.compress(try reader.next(into: buffer), into: target)
    }
}
