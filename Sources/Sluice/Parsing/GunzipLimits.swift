/// How much may come of a part that is decompressed.
public struct GunzipLimits: Hashable, Sendable {
    /// The most bytes of decompressed content.
    public var bytes: Int64
    /// The most decompressed bytes for each compressed one, beyond the first 64 KiB.
    ///
    /// 100 unless set. Text comes to 3 to 20, the emptiest log to some 50, and only what is made for it to the 1,032 that
    /// the format allows.
    public var ratio: Int64 = 100

    /// Limits for a content of this size.
    ///
    /// - Parameter bytes: The most bytes of decompressed content.
    public init(bytes: Int64) {
        self.bytes = bytes
    }
}
