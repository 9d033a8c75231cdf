/// A part's bytes as the body reads them, once everything about them is known.
enum Content: Sendable {
    /// Bytes in memory.
    case memory(HeldBytes)
    /// A source that is opened when the reader comes to it.
    case source(any ByteSource)
    /// A source that waits, and whose wait can be ended.
    case stream(any InterruptibleSource)
    /// Chunks that are awaited.
    case async(AsyncSource)
    /// Another content, compressed.
    case gzip(GzipContent)

    var knownLength: Int64? {
        switch self {
        case .memory(let bytes): Int64(bytes.count)
        case .source(let source): source.knownLength
        case .stream(let source): source.knownLength
        case .async(let source): source.knownLength
        case .gzip(let source): source.knownLength
        }
    }

    var replay: Replay {
        switch self {
        case .memory: .seekable
        case .source(let source): source.replay
        case .stream(let source): source.replay
        case .async(let source): source.replay
        case .gzip(let source): source.replay
        }
    }

    var mayBlock: Bool {
        switch self {
        case .memory: false
        case .source(let source): source.mayBlock
        case .stream, .async, .gzip: true
        }
    }

    /// The offset at or before the one given at which it can be opened.
    func openableOffset(before offset: Int64) -> Int64 {
        switch self {
        case .gzip(let source): source.restartOffset(before: offset)
        case _ where replay == .seekable: offset
        default: 0
        }
    }

    /// Opens it for one reading.
    ///
    /// - Parameters:
    ///   - offset: The first byte to read, one that ``openableOffset(before:)`` gave.
    ///   - interrupt: Ends reads that wait.
    /// - Returns: A cursor that stands at the offset.
    /// - Throws: What the source throws where it cannot be opened.
    func open(at offset: Int64, interrupt: ReadInterrupt?) throws(MultipartError) -> any ByteCursor {
        switch self {
        case .memory(let bytes): HeldCursor(bytes, offset: offset)
        case .source(let source): try source.open(at: offset)
        case .stream(let source): try source.open(interrupt: interrupt)
        case .async(let source): try source.open(interrupt: interrupt)
        case .gzip(let source): try source.open(at: offset, interrupt: interrupt)
        }
    }
}

/// Reads bytes in memory, for those who read any content alike.
private final class HeldCursor: ByteCursor {
    private let bytes: HeldBytes
    private var offset: Int

    init(_ bytes: HeldBytes, offset: Int64) {
        self.bytes = bytes
        self.offset = Int(offset)
    }

    func read(into buffer: inout OutputRawSpan) {
        offset += unsafe buffer.withUnsafeMutableBytes { room, initialized in
            let count = unsafe bytes.copy(from: offset, into: .init(rebasing: room[initialized...]))
            initialized += count
            return count
        }
    }
}
