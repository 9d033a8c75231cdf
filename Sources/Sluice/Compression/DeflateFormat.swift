/// The few bytes of gzip and deflate that zlib is not asked for (RFC 1951, RFC 1952).
enum DeflateFormat {
    /// How far back a match can lie.
    static let windowSize = 32 * 1024

    /// A member's header: deflate, no name, no time, no word about the level, an unknown file system.
    static let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]

    /// What ends a member: the checksum, and the length modulo 2^32.
    static func trailer(checksum: UInt32, length: Int64) -> [UInt8] {
        let values = [checksum, UInt32(truncatingIfNeeded: length)]
        return values.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    }

    /// The last block of a stream whose last bytes were in the block before: no bytes, with the fixed codes.
    static let emptyLastBlock: [UInt8] = [0x03, 0x00]

    private static let longestStored = 65_535
    private static let storedHeadSize = 5

    /// The bytes that `count` bytes take as they are.
    static func storedSize(_ count: Int) -> Int {
        count + storedHeadSize * max((count + longestStored - 1) / longestStored, 1)
    }

    /// Writes bytes as they are, as one or more blocks, starting and ending at a byte's boundary.
    ///
    /// - Parameters:
    ///   - bytes: At least one byte.
    ///   - isLast: Whether the stream ends with them.
    ///   - target: Room for at least ``storedSize(_:)`` bytes.
    /// - Returns: The number of bytes written.
    static func store(_ bytes: UnsafeRawBufferPointer, isLast: Bool, into target: UnsafeMutableRawBufferPointer) -> Int
    {
        var written = 0
        var rest = unsafe bytes[...]
        while unsafe !rest.isEmpty {
            let piece = unsafe rest.prefix(longestStored)
            unsafe rest = rest.dropFirst(piece.count)
            let count = unsafe UInt16(piece.count)
            // One bit for the last block, two for the kind, which is 0; the rest of the byte is padding.
            unsafe target[written] = rest.isEmpty && isLast ? 1 : 0
            unsafe target.storeBytes(of: count.littleEndian, toByteOffset: written + 1, as: UInt16.self)
            unsafe target.storeBytes(of: (~count).littleEndian, toByteOffset: written + 3, as: UInt16.self)
            written += storedHeadSize
            unsafe UnsafeMutableRawBufferPointer(rebasing: target[written...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: piece))
            written += unsafe piece.count
        }
        return written
    }
}
