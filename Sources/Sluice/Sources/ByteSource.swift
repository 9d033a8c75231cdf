/// How often, and from where, a source's bytes can be read.
///
/// The words are those of Swift's HTTP client proposal. A body is what its weakest source is.
public enum Replay: Int, Comparable, Sendable, CustomStringConvertible {
    /// One time, from the start: pipes, sockets, a generator's closure, an async sequence.
    case once
    /// Any number of times, from the start; a later offset costs the bytes before it.
    case restartable
    /// Any number of times, from any offset, at no cost: files and memory.
    case seekable

    /// Whether the first can do less than the second.
    public static func < (first: Replay, second: Replay) -> Bool {
        first.rawValue < second.rawValue
    }

    /// The case's name.
    public var description: String {
        switch self {
        case .once: "once"
        case .restartable: "restartable"
        case .seekable: "seekable"
        }
    }
}

/// Where a part's bytes come from: opened when they are needed, read through a buffer of the caller's.
///
/// The engine's own sources are made by ``Part``'s functions; conform a type to this protocol to add another.
/// A source is a description that many readers may share; each ``open(at:)`` gives one reader's cursor.
public protocol ByteSource: Sendable {
    /// The number of bytes, where it is known before reading.
    ///
    /// A reader asks for this many and throws ``MultipartError/Code/lengthMismatch`` where there are fewer, so that a
    /// Content-Length sent ahead of the bytes is never wrong.
    var knownLength: Int64? { get }

    /// How often, and from where, the bytes can be read.
    var replay: Replay { get }

    /// Whether a read may wait for something slower than a disk, or compute for long.
    ///
    /// Where true, async sinks read it on a thread of its own. The default is true.
    var mayBlock: Bool { get }

    /// Opens the source for one reading.
    ///
    /// - Parameter offset: The bytes to skip; 0 unless ``replay`` is ``Replay/seekable``: for others the engine
    ///   reads from the start and discards.
    /// - Returns: A cursor that stands at the offset. It is used by one thread at a time and released at the end.
    /// - Throws: ``MultipartError``, most often ``MultipartError/Code/notReplayable`` or `openFailed`.
    func open(at offset: Int64) throws(MultipartError) -> any ByteCursor
}

extension ByteSource {
    /// True: the engine assumes that a source it does not know may wait.
    public var mayBlock: Bool { true }
}

/// One reading of a ``ByteSource``.
public protocol ByteCursor: AnyObject {
    /// Appends the next bytes to `buffer`, straight from where they come from.
    ///
    /// - Parameter buffer: Where the bytes go; it has room for at least one, and for no more than the source's
    ///   declared length leaves.
    /// - Throws: ``MultipartError`` where the bytes cannot be had. The engine adds the part's name.
    /// - Note: Appending nothing means the end: a cursor that has nothing *yet* waits.
    func read(into buffer: inout OutputRawSpan) throws(MultipartError)
}

extension ByteCursor {
    /// Reads into raw memory, from its start.
    ///
    /// - Returns: The number of bytes, 0 at the end.
    func read(into target: UnsafeMutableRawBufferPointer) throws(MultipartError) -> Int {
        var span = unsafe OutputRawSpan(buffer: target, initializedCount: 0)
        try read(into: &span)
        return unsafe span.finalize(for: target)
    }
}
