/// A source of which another one's bytes come out compressed with gzip (RFC 1952).
///
/// For sources that are no part of a form, and for those that another source wraps; a part is compressed with
/// ``Part/gzip(level:mode:workers:length:blockSize:)``. The length is not known before reading.
public struct GzipSource: ByteSource {
    private let content: GzipContent

    /// Compresses a source.
    ///
    /// - Parameters:
    ///   - source: What to compress.
    ///   - level: 0 (store) and 1 (fastest) to 9 (smallest).
    ///   - workers: How many threads compress.
    ///   - blockSize: The bytes that are compressed at a time, 32 KiB to 64 MiB.
    /// - Throws: ``MultipartError/Code/invalidCompression`` for numbers that are none of these.
    public init(
        _ source: some ByteSource,
        level: Int = Gzip.defaultLevel,
        workers: Gzip.Workers = .automatic,
        blockSize: Int = Gzip.defaultBlockSize
    ) throws(MultipartError) {
        let settings = GzipSettings(level: level, blockSize: blockSize, workers: workers)
        try settings.validate()
        content = GzipContent(.source(source), settings)
    }

    /// Nil: how well the bytes compress is not known before.
    public var knownLength: Int64? { nil }

    /// ``Replay/restartable``, or ``Replay/once`` where the source is.
    public var replay: Replay { content.replay }

    /// Starts compressing.
    ///
    /// - Parameter offset: The bytes to skip; they are compressed all the same, from the nearest place that an earlier
    ///   cursor passed.
    /// - Returns: A cursor of the compressed bytes. Where there are several workers, releasing it ends them.
    /// - Throws: ``MultipartError/Code/resourcesExhausted`` where there is no memory for compressing.
    public func open(at offset: Int64) throws(MultipartError) -> any ByteCursor {
        try content.open(at: offset, interrupt: nil)
    }
}
