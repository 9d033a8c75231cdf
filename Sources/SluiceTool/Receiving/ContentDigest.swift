internal import CCrypto

/// The SHA-256 of content that comes in pieces.
// @safe: the context is made in `init` and freed in `deinit`, and lent to libcrypto only.
@safe
final class ContentDigest {
    private let context: UnsafeMutableRawPointer?

    init() {
        unsafe context = sluice_sha256_create()
    }

    deinit {
        if let context = unsafe context { unsafe sluice_sha256_destroy(context) }
    }

    /// Takes in the next piece.
    ///
    /// - Parameter bytes: The piece, lent for the call.
    func update(_ bytes: UnsafeRawBufferPointer) {
        guard let context = unsafe context else { return }
        _ = unsafe sluice_sha256_update(context, bytes.baseAddress, bytes.count)
    }

    /// The digest of all pieces, to be asked for once.
    ///
    /// - Returns: It, in hexadecimal; nil where libcrypto does not do SHA-256.
    func finish() -> String? {
        var digest = [UInt8](repeating: 0, count: 32)
        guard let context = unsafe context, unsafe sluice_sha256_finish(context, &digest) == 1 else { return nil }
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
