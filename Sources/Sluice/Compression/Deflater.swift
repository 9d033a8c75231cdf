internal import CZlib

/// zlib's compressor for raw deflate, one block at a time.
///
/// It takes 260 KiB of memory, and is used by one thread at a time.
// @safe: the pointer is allocated in `init`, freed in `deinit`, and never leaves the class.
@safe
final class Deflater {
    // On the heap, because zlib refuses a structure that was moved.
    private let stream: UnsafeMutablePointer<z_stream>

    /// - Parameter level: 1 to 9.
    /// - Throws: ``MultipartError/Code/resourcesExhausted`` without memory,
    ///   ``MultipartError/Code/compressionFailed`` for anything else.
    init(level: Int) throws(MultipartError) {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let status = unsafe sluice_deflate_init(stream, Int32(level), -MAX_WBITS)
        guard status == Z_OK else {
            let error = unsafe Self.error(status, stream)
            unsafe stream.deallocate()
            throw error
        }
        unsafe self.stream = unsafe stream
    }

    deinit {
        unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Compresses a block by itself, but for the history that it may refer to, up to a byte's boundary.
    ///
    /// One call of zlib: more, in pieces of output, could leave further marks of the flush, and the bytes would depend
    /// on the pieces.
    ///
    /// - Parameters:
    ///   - block: At least one byte, and at most 2^31.
    ///   - history: The bytes before the block, at most 32 KiB.
    ///   - isLast: Whether the stream ends with the block.
    ///   - target: Where the bytes go.
    /// - Returns: The number of bytes; nil where they are not fewer than `target` has room for.
    /// - Throws: ``MultipartError/Code/compressionFailed`` where zlib fails.
    func compress(
        _ block: UnsafeRawBufferPointer,
        after history: UnsafeRawBufferPointer,
        isLast: Bool,
        into target: UnsafeMutableRawBufferPointer
    ) throws(MultipartError) -> Int? {
        try unsafe check(deflateReset(stream))
        if let start = history.baseAddress, history.count > 0 {
            try unsafe check(
                deflateSetDictionary(stream, start.assumingMemoryBound(to: Bytef.self), uInt(history.count))
            )
        }
        unsafe stream.pointee.next_in = unsafe UnsafeMutablePointer(
            mutating: block.baseAddress?.assumingMemoryBound(to: Bytef.self)
        )
        unsafe stream.pointee.avail_in = uInt(block.count)
        unsafe stream.pointee.next_out = unsafe target.baseAddress?.assumingMemoryBound(to: Bytef.self)
        unsafe stream.pointee.avail_out = uInt(target.count)
        // A last block that found no room is no error here: Z_OK without Z_STREAM_END, or Z_BUF_ERROR.
        let status = unsafe deflate(stream, isLast ? Z_FINISH : Z_SYNC_FLUSH)
        if status != Z_STREAM_END, status != Z_BUF_ERROR { try check(status) }
        let room = unsafe Int(stream.pointee.avail_out)
        return room > 0 ? target.count - room : nil
    }

    private func check(_ status: Int32) throws(MultipartError) {
        guard status == Z_OK else { throw unsafe Self.error(status, stream) }
    }

    private static func error(_ status: Int32, _ stream: UnsafePointer<z_stream>) -> MultipartError {
        if status == Z_MEM_ERROR {
            return MultipartError(.resourcesExhausted, "there is no memory for compressing; use fewer workers")
        }
        let words = unsafe stream.pointee.msg.map { unsafe ": \(String(cString: $0))" } ?? ""
        return MultipartError(.compressionFailed, "zlib \(zlibVersionText) failed with status \(status)\(words)")
    }

    private static var zlibVersionText: String {
        unsafe zlibVersion().map { unsafe String(cString: $0) } ?? ""
    }
}

/// The checksum of gzip: CRC-32 (RFC 1952 section 8).
enum Checksum {
    static let ofNothing: UInt32 = 0

    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        UInt32(
            truncatingIfNeeded: unsafe crc32(
                0,
                bytes.baseAddress?.assumingMemoryBound(to: Bytef.self),
                uInt(bytes.count)
            )
        )
    }

    /// The checksum of two runs of bytes, of which the second has `count`.
    static func combine(_ first: UInt32, _ second: UInt32, count: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: crc32_combine(uLong(first), uLong(second), count))
    }
}
