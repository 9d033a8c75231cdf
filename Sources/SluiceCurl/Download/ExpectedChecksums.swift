/// The checksums that a file is expected to have, and what the bytes that came have of them.
struct ExpectedChecksums {
    private let sha256: String?
    private let crc32: UInt32?
    private var hash: SHA256?
    private var crc: CRC32?

    /// Begins with no bytes; nil where there is no memory.
    init?(_ options: FileDownloadOptions) {
        (sha256, crc32) = (options.sha256, options.crc32)
        crc = crc32.map { _ in CRC32() }
        guard sha256 != nil else { return }
        hash = SHA256()
        if hash == nil { return nil }
    }

    /// Whether nothing is expected, so that no byte need be looked at.
    var isEmpty: Bool { sha256 == nil && crc32 == nil }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        unsafe hash?.add(bytes)
        unsafe crc?.add(bytes)
    }

    /// What is not as expected once all bytes are there, in words; nil where everything is.
    ///
    /// Nothing can be added behind that.
    mutating func mismatch() -> String? {
        if let wanted = sha256.flatMap({ SHA256.Digest(hexadecimal: $0) }) {
            let digest = hash?.finish()
            hash = nil
            guard digest == wanted else {
                return "its SHA-256 is \(digest?.hexadecimal ?? "unknown"), and should be \(wanted.hexadecimal)"
            }
        }
        if let wanted = crc32, let value = crc?.value, value != wanted {
            return "its CRC-32 is \(String(value, radix: 16)), and should be \(String(wanted, radix: 16))"
        }
        return nil
    }
}
