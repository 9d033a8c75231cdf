internal import CCrypto

/// SHA-256 (FIPS 180-4) over bytes as they come, by the library that libcurl itself computes it with.
// @safe: the context is made in `init`, freed in `deinit`, and never leaves the class.
@safe
final class SHA256 {
    private let context: UnsafeMutableRawPointer

    /// Begins; nil where there is no memory.
    init?() {
        CryptoLibrary.begin()
        guard let context = unsafe sluice_sha256_create() else { return nil }
        unsafe self.context = context
    }

    deinit {
        unsafe sluice_sha256_destroy(context)
    }

    func add(_ bytes: UnsafeRawBufferPointer) {
        unsafe sluice_sha256_update(context, bytes.baseAddress, bytes.count)
    }

    /// The digest of all bytes.
    ///
    /// No more can be added.
    func finish() -> Digest {
        var bytes = [UInt8](repeating: 0, count: Digest.byteCount)
        unsafe sluice_sha256_finish(context, &bytes)
        return Digest(bytes)
    }

    /// The digest of a text's UTF-8; nil where there is no memory.
    static func digest(_ text: String) -> Digest? {
        guard let hash = SHA256() else { return nil }
        unsafe Array(text.utf8).withUnsafeBytes { unsafe hash.add($0) }
        return hash.finish()
    }

    struct Digest: Hashable {
        static let byteCount = 32

        private let bytes: [UInt8]

        fileprivate init(_ bytes: [UInt8]) {
            self.bytes = bytes
        }

        /// Reads 64 hexadecimal digits; nil for anything else.
        init?(hexadecimal text: String) {
            let digits = text.utf8.compactMap { Self.value($0) }
            guard digits.count == text.utf8.count, digits.count == 2 * Self.byteCount else { return nil }
            bytes = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        }

        /// The digest in lower-case hexadecimal.
        var hexadecimal: String {
            let digits = Array("0123456789abcdef".utf8)
            return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
        }

        private static func value(_ digit: UInt8) -> UInt8? {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
            default: nil
            }
        }
    }
}
