/// A content that is compressed as it is read.
final class GzipContent: Sendable {
    private let content: Content
    /// The content's length, where known, asked for once.
    private let contentLength: Int64?
    private let settings: GzipSettings
    /// What will come of it, where it was compressed before.
    private let extent: GzipExtent?
    /// Where readers came by; nil where the content cannot be read from there.
    private let restartPoints: RestartPoints?

    /// - Parameters:
    ///   - content: What to compress.
    ///   - settings: How; they were validated.
    convenience init(_ content: Content, _ settings: GzipSettings) {
        self.init(content, settings, nil, content.replay == .seekable ? RestartPoints() : nil)
    }

    private init(_ content: Content, _ settings: GzipSettings, _ extent: GzipExtent?, _ points: RestartPoints?) {
        self.content = content
        contentLength = content.knownLength.map { max($0, 0) }
        self.settings = settings
        self.extent = extent
        restartPoints = points
    }

    var knownLength: Int64? { extent?.length }
    var sourceLength: Int64? { extent?.sourceLength ?? contentLength }
    var replay: Replay { min(content.replay, .restartable) }

    /// The offset at or before the one given from which bytes can be had at no cost of those before.
    func restartOffset(before offset: Int64) -> Int64 {
        restartPoints?.last(before: offset).offset ?? 0
    }

    /// Begins a reading.
    ///
    /// - Parameters:
    ///   - offset: The first byte to give; what lies between it and the place known before it is compressed, and
    ///     dropped.
    ///   - interrupt: Ends reads of the source that wait.
    /// - Returns: A cursor that stands at the offset.
    /// - Throws: ``MultipartError/Code/resourcesExhausted`` where there is no memory for compressing.
    func open(at offset: Int64, interrupt: ReadInterrupt?) throws(MultipartError) -> GzipCursor {
        let point = restartPoints?.last(before: offset) ?? RestartPoint()
        let workers = settings.workerCount(for: contentLength.map { $0 - point.sourceOffset })
        let largestBlock = Int(min(Int64(settings.blockSize), contentLength ?? .max))
        let makeReader = { [content, contentLength, settings] (interrupt: ReadInterrupt?) in
            BlockReader(
                content,
                contentLength,
                at: point.sourceOffset,
                blockSize: settings.blockSize,
                interrupt: interrupt
            )
        }
        let blocks: any CompressedBlocks =
            workers > 1
            ? ParallelBlocks(workers: workers, settings, interrupt: interrupt, makeReader: makeReader)
            : try SerialBlocks(makeReader(interrupt), level: settings.level, largestBlock: largestBlock)
        return GzipCursor(
            blocks,
            largestBlock: largestBlock,
            from: point,
            startingAt: offset,
            expecting: extent,
            restartPoints: restartPoints
        )
    }

    /// The same content, with its length.
    ///
    /// - Parameter interrupt: Ends it, also where the content waits.
    /// - Returns: The content that knows its length.
    /// - Throws: ``MultipartError/Code/notReplayable`` where it can be read only once, ``MultipartError/Code/cancelled``
    ///   where the task was cancelled or the interrupt triggered, and what reading throws.
    func measured(interrupt: ReadInterrupt?) throws(MultipartError) -> GzipContent {
        guard replay != .once else {
            throw MultipartError(
                .notReplayable,
                "the source can be read only once, so that its compressed length cannot be measured before; "
                    + "use the length .spooled or .unknown"
            )
        }
        let extent = unsafe try compressAll(interrupt: interrupt) { _ in }
        return GzipContent(content, settings, extent, restartPoints)
    }

    /// Compresses all of the content.
    ///
    /// - Parameters:
    ///   - interrupt: Ends it, also where the content waits.
    ///   - take: Takes the bytes, some at a time.
    /// - Returns: What it came to.
    /// - Throws: ``MultipartError/Code/cancelled`` where the task was cancelled or the interrupt triggered, and what
    ///   reading and `take` throw.
    func compressAll(
        interrupt: ReadInterrupt?,
        _ take: (UnsafeRawBufferPointer) throws(MultipartError) -> Void
    ) throws(MultipartError) -> GzipExtent {
        let cursor = try open(at: 0, interrupt: interrupt)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * settings.blockSize, alignment: 4096)
        defer { unsafe buffer.deallocate() }
        while true {
            if Task.isCancelled { throw .cancelledRead }
            try interrupt?.check()
            let count = unsafe try cursor.read(into: buffer)
            if count == 0 { return cursor.extent }
            unsafe try take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }
}
