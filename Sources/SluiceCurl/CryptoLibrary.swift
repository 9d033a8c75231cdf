internal import CCrypto

/// libcrypto, which libcurl and the checksums share.
enum CryptoLibrary {
    /// Begins with it, which must come before everything else that uses it.
    ///
    /// It would clear up when the process ends, without regard to the threads that there are: one that ends at that moment, a
    /// client's or one that wrote a file, then frees what is freed already. The system has all of it back anyway. Where a
    /// program has begun with libcrypto before, it is that program's choice.
    static func begin() { isBegun }

    private static let isBegun: Void = sluice_crypto_begin()
}
