/// How far a transfer is, as of one moment.
public struct TransferProgress: Sendable, Hashable {
    /// A part and how far it is.
    public struct Part: Sendable, Hashable {
        /// Which part.
        public let label: MultipartError.PartLabel
        /// The part's place among all parts of the body, nested ones included, from 0.
        public let index: Int
        /// The number of parts in the body, nested ones included.
        public let count: Int
        /// The bytes of the part's content that are done, without its head.
        public let completedBytes: Int64
        /// The bytes of the part's content, where known.
        public let totalBytes: Int64?
    }

    /// How far the sources are, where parts are compressed.
    public struct Source: Sendable, Hashable {
        /// The body's bytes that are done, with those of compressed parts counted before compression.
        public let completedBytes: Int64
        /// As many in all, where every source's length is known.
        public let totalBytes: Int64?
        /// The smoothed rate in such bytes a second, in the last report the attempt's mean.
        public let bytesPerSecond: Double?
    }

    /// The bytes that are done: for an upload, those handed to the transport; for a download, those that came,
    /// with what was there already.
    public let completedBytes: Int64
    /// The bytes in all, where known; never fewer than ``completedBytes``.
    public let totalBytes: Int64?
    /// The part that the next byte belongs to, the last one at the end; nil where there are no parts.
    public let part: Part?
    /// The seconds since the transfer began, retries included.
    public let elapsedSeconds: Double
    /// The smoothed rate in bytes a second, in the last report the attempt's mean; nil until there is something to go
    /// by.
    public let bytesPerSecond: Double?
    /// Which attempt this is, from 1.
    ///
    /// It goes up where the transport tries again or starts the body again, and only then may ``completedBytes`` go
    /// down.
    public let attempt: Int
    /// How many of ``completedBytes`` an earlier transfer left behind, which this one goes on from.
    public internal(set) var resumedBytes: Int64 = 0
    /// Whether all of the body was handed over.
    public let isFinished: Bool
    /// Whether no report follows: the transfer is over, completed or not.
    public let isLast: Bool
    /// How far the sources are; nil where no part is compressed, so that the body's bytes say all, and for slices, which
    /// may cut compressed parts in two.
    public internal(set) var source: Source?

    /// The share that is done, 0 to 1, where the total is known, of the body's bytes or else of the sources'.
    public var fractionCompleted: Double? {
        if let totalBytes { return totalBytes == 0 ? 1 : Double(completedBytes) / Double(totalBytes) }
        guard let source, let total = source.totalBytes else { return nil }
        return total == 0 ? 1 : Double(source.completedBytes) / Double(total)
    }

    /// The seconds that are left at the present rate, where the total and a rate are known, of the body's bytes or
    /// else of the sources'.
    public var secondsRemaining: Double? {
        if let totalBytes { return Self.seconds(totalBytes - completedBytes, at: bytesPerSecond) }
        guard let source, let total = source.totalBytes else { return nil }
        return Self.seconds(total - source.completedBytes, at: source.bytesPerSecond)
    }

    private static func seconds(_ bytes: Int64, at rate: Double?) -> Double? {
        guard let rate, rate > 0 else { return nil }
        return Double(bytes) / rate
    }
}
