internal import CZlib

/// The checksum of gzip and zip (RFC 1952 section 8) over bytes as they come.
struct CRC32 {
    private(set) var value: UInt32 = 0

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        // Of a size_t, where crc32 takes 32 bits.
        value = UInt32(
            truncatingIfNeeded: unsafe crc32_z(
                uLong(value),
                start.assumingMemoryBound(to: UInt8.self),
                bytes.count
            )
        )
    }
}
