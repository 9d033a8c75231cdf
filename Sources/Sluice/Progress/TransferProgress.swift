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

    /// The share that is done, 0 to 1, where the total is known.
    public var fractionCompleted: Double? {
        totalBytes.map { $0 == 0 ? 1 : Double(completedBytes) / Double($0) }
    }

    /// The seconds that are left at the present rate, where the total and a rate are known.
    public var secondsRemaining: Double? {
        guard let totalBytes, let bytesPerSecond, bytesPerSecond > 0 else { return nil }
        return Double(totalBytes - completedBytes) / bytesPerSecond
    }
}
