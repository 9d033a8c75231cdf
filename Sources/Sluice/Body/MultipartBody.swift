/// A form that is ready to be sent: immutable, shared freely, and read by any number of independent readers.
///
/// A body holds no bytes of files and opens none; descriptors that it was given it keeps. Each reader starts where it is asked to; on a body whose
/// ``replay`` is ``Replay/seekable`` that is a seek. Retries, redirects, resumed and parallel uploads rest on this.
public struct MultipartBody: Sendable {
    let layout: BodyLayout
    /// The bytes of the layout that this body is; nil where it is all of it and its length is unknown.
    let range: Range<Int64>?

    init(_ layout: BodyLayout) {
        self.layout = layout
        range = layout.contentLength.map { 0..<$0 }
    }

    private init(_ layout: BodyLayout, range: Range<Int64>) {
        self.layout = layout
        self.range = range
    }

    /// The value of the Content-Type header that goes with the body.
    public var contentType: String { layout.contentType }

    /// The exact number of bytes, where every part's length is known; send it as Content-Length.
    ///
    /// Where nil, send the body with chunked transfer coding, and never send both.
    public var contentLength: Int64? { range.map { $0.upperBound - $0.lowerBound } }

    /// How often, and from where, the body can be read: what its weakest source can.
    public var replay: Replay { layout.replay }

    /// Whether a read may wait for something slower than a disk: a pipe, a generator, an async sequence.
    public var mayBlock: Bool { layout.mayBlock }

    /// Whether reading waits for async sequences at most, so that a ``BodyReader`` can say before each read whether it would.
    package var waitsForSequencesOnly: Bool {
        layout.segments.allSatisfy { segment in
            switch segment.kind {
            case .rendered, .content(.async): true
            case .content(let content): !content.mayBlock
            }
        }
    }

    /// The parts with content of their own, in order; those of nested forms are among them.
    public var parts: [MultipartError.PartLabel] { layout.labels }

    /// Where each part's content lies in the body, in the order of ``parts``.
    ///
    /// Nil where that is not known before reading. Offsets count from the start of the whole form's body, also for a slice.
    public var contentRanges: [Range<Int64>?] {
        layout.segments.compactMap { segment -> Range<Int64>?? in
            guard case .content = segment.kind else { return nil }
            guard let start = segment.start, let length = segment.length else { return .some(nil) }
            return .some(start..<start + length)
        }
    }

    /// The number of bytes of each part's content, in the order of ``parts``, where known.
    var partLengths: [Int64?] {
        layout.segments.compactMap { segment -> Int64?? in
            guard case .content = segment.kind else { return nil }
            return .some(segment.length)
        }
    }

    /// Whether it is no slice.
    var isWhole: Bool {
        range.map { $0.lowerBound == 0 && $0.upperBound == layout.contentLength } ?? true
    }

    // MARK: Reading

    /// A new, independent reader.
    ///
    /// - Parameters:
    ///   - offset: The offset in this body at which to start.
    ///   - interrupt: Ends reads that wait, from another thread.
    /// - Returns: A reader. It opens files when it comes to them, one at a time.
    /// - Throws: ``MultipartError/Code/invalidRange`` for an offset that is negative or past the end.
    /// - Complexity: O(log n) in the number of parts. Within a part that is not ``Replay/seekable`` the first read
    ///   costs the part's bytes before the offset.
    public func makeReader(
        startingAt offset: Int64 = 0,
        interrupt: ReadInterrupt? = nil
    ) throws(MultipartError) -> BodyReader {
        guard offset >= 0, offset <= contentLength ?? .max else {
            throw MultipartError(
                .invalidRange,
                "the offset \(offset) does not lie within the body"
                    + (contentLength.map { " of \($0) bytes" } ?? "")
            )
        }
        guard let range else {
            // Without a known end, the offset is reached by way of what is known, then by reading.
            return BodyReader(layout, range: offset..<Int64.max, origin: 0, interrupt: interrupt)
        }
        return BodyReader(
            layout,
            range: range.lowerBound + offset..<range.upperBound,
            origin: range.lowerBound,
            interrupt: interrupt
        )
    }

    /// The body as an async sequence of chunks, read one chunk ahead.
    ///
    /// - Parameters:
    ///   - size: The most bytes in a chunk; 64 MiB where it is more. 256 KiB is the size above which loopback and disks
    ///     gain little.
    ///   - progress: Called with the progress at most ten times a second, and at the end.
    /// - Returns: The sequence. Each iteration reads the body anew.
    public func chunks(
        ofSize size: Int = 256 * 1024,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) -> BodyChunks {
        BodyChunks(body: self, chunkSize: min(max(size, 1), 64 << 20), progress: progress)
    }

    /// Writes the body to a descriptor, keeping file bytes inside the kernel where it has a way.
    ///
    /// Files go to files by `copy_file_range` where blocks can be shared, else to files, sockets and pipes by `splice`
    /// (through a pipe of 1 MiB) or `sendfile`, but on loopback, where it is faster, through a buffer; headers and memory are gathered by `writev`; generators and async sequences go through a buffer of
    /// 512 KiB. Where the kernel refuses a way, the next one is tried.
    ///
    /// The call returns when all is written. It blocks its thread, waiting also where the descriptor is non-blocking;
    /// SIGPIPE is not raised.
    ///
    /// - Parameters:
    ///   - descriptor: A file, socket, pipe or terminal open for writing, written at its offset. It stays open.
    ///   - interrupt: Ends the call from another thread: between writes, and while it waits for a source or for a
    ///     non-blocking descriptor. A write that a blocking descriptor holds up is not reached.
    ///   - progress: Called with the progress at most ten times a second, and at the end.
    /// - Returns: How many bytes went by which way.
    /// - Throws: ``MultipartError/Code/connectionClosed`` where the reader went away,
    ///   ``MultipartError/Code/writeFailed`` with the system's error number, and what reading throws. The reason says
    ///   how many bytes were written.
    @discardableResult
    public func write(
        to descriptor: Int32,
        interrupt: ReadInterrupt? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) throws(MultipartError) -> WriteReport {
        let meter = progress.map { ProgressMeter(self, handler: $0) }
        var writer = try DescriptorWriter(self, to: descriptor, interrupt: interrupt, meter: meter)
        do {
            try withoutBrokenPipeSignal { () throws(MultipartError) in try writer.write() }
        } catch {
            meter?.finish(completed: false)
            throw error
        }
        meter?.finish(completed: true)
        return writer.report
    }

    /// A byte range of the body as a body: for uploads in parallel pieces, and for resumed ones.
    ///
    /// - Parameter range: The bytes, counted from this body's start.
    /// - Returns: A body of just these bytes. Nothing is read or copied.
    /// - Throws: ``MultipartError/Code/unknownLength`` where this body's length is not known;
    ///   ``MultipartError/Code/invalidRange`` where the range does not lie within it.
    public func slice(_ range: Range<Int64>) throws(MultipartError) -> MultipartBody {
        guard let own = self.range else {
            throw MultipartError(.unknownLength, "a body of unknown length has no slices; give its sources a length")
        }
        guard range.lowerBound >= 0, range.upperBound <= own.upperBound - own.lowerBound else {
            throw MultipartError(
                .invalidRange,
                "the bytes \(range.lowerBound)..<\(range.upperBound) do not lie within the body's "
                    + "\(own.upperBound - own.lowerBound)"
            )
        }
        return MultipartBody(layout, range: own.lowerBound + range.lowerBound..<own.lowerBound + range.upperBound)
    }

    /// The whole body in memory, for those that are known to be small.
    ///
    /// - Parameter limit: The most bytes to collect.
    /// - Returns: The bytes.
    /// - Throws: ``MultipartError/Code/limitExceeded`` for a longer body, at once where its length is known; and what
    ///   reading throws.
    public func collect(upTo limit: Int) throws(MultipartError) -> [UInt8] {
        let tooLong = MultipartError(
            .limitExceeded,
            "the body is longer than the limit of \(limit) bytes\(contentLength.map { ": \($0)" } ?? ""); stream it instead"
        )
        if let contentLength, contentLength > Int64(limit) { throw tooLong }
        let reader = try makeReader()
        var bytes: [UInt8] = []
        while true {
            let room = contentLength.map { max(Int($0) - bytes.count, 1) } ?? max(bytes.count, 64 * 1024)
            let count = try reader.read(appendingTo: &bytes, upTo: room)
            if count == 0 { return bytes }
            if bytes.count > limit { throw tooLong }
        }
    }
}
