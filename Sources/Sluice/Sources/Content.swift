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

    var knownLength: Int64? {
        switch self {
        case .memory(let bytes): Int64(bytes.count)
        case .source(let source): source.knownLength
        case .stream(let source): source.knownLength
        case .async(let source): source.knownLength
        }
    }

    var replay: Replay {
        switch self {
        case .memory: .seekable
        case .source(let source): source.replay
        case .stream(let source): source.replay
        case .async(let source): source.replay
        }
    }

    var mayBlock: Bool {
        switch self {
        case .memory: false
        case .source(let source): source.mayBlock
        case .stream, .async: true
        }
    }
}
