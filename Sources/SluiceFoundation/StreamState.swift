internal import Foundation
internal import Sluice

/// What a ``BodyInputStream`` is up to, kept under its lock.
///
/// The reader itself is used outside of the lock: it is taken out of the state to read, and put back afterwards
/// unless the stream has ended, failed or been closed by then.
struct StreamState {
    /// What a call of `read` may do.
    enum Turn {
        /// Read with this reader, then call ``StreamState/endReading(_:_:)`` or ``StreamState/fail(_:)``.
        case proceed(ReaderLease)
        /// Return this.
        case refuse(Int)
    }

    private enum Phase {
        case notOpen
        case open
        case ended
        case failed
    }

    private var phase = Phase.notOpen
    private var isClosed = false
    private var isReading = false
    private var reader: ReaderLease?
    private let end: Int64?
    private(set) var position: Int64
    private(set) var error: MultipartError?

    init(position: Int64, end: Int64?) {
        self.position = position
        self.end = end
    }

    /// Whether all of the body was read.
    var hasEnded: Bool { phase == .ended }

    var status: Stream.Status {
        if isClosed { return .closed }
        return switch phase {
        case .notOpen: .notOpen
        case .open: isReading ? .reading : .open
        case .ended: .atEnd
        case .failed: .error
        }
    }

    mutating func open(_ makeReader: () throws(MultipartError) -> any StreamReader) {
        guard phase == .notOpen, !isClosed else { return }
        do {
            reader = ReaderLease(reader: try makeReader())
            phase = .open
            error = nil
            endIfComplete()
        } catch {
            fail(error)
        }
    }

    mutating func beginReading(_ length: Int) -> Turn {
        switch phase {
        case .failed: return .refuse(-1)
        case .ended: return .refuse(0)
        case .notOpen where !isClosed:
            // Not for good: opening it makes it right.
            error = MultipartError(.readFailed, "the stream is not open; call open() before reading from it")
            return .refuse(-1)
        case .notOpen, .open:
            guard !isClosed else {
                fail(.closedEarly)
                return .refuse(-1)
            }
            guard length > 0 else { return .refuse(0) }
            guard let lease = reader.take() else { return .refuse(-1) }
            isReading = true
            return .proceed(lease)
        }
    }

    /// Takes the reader back after a read of `count` bytes.
    ///
    /// - Returns: What the read is to return, and whether it is the last one that does anything.
    mutating func endReading(_ lease: ReaderLease, _ count: Int) -> (count: Int, isLast: Bool) {
        isReading = false
        guard !isClosed else {
            fail(.closedEarly)
            return (-1, true)
        }
        position += Int64(count)
        reader = lease
        if count == 0 { phase = .ended }
        endIfComplete()
        return (count, hasEnded)
    }

    mutating func fail(_ error: MultipartError) {
        isReading = false
        phase = .failed
        self.error = error
        reader = nil
    }

    /// Marks the stream closed.
    ///
    /// - Returns: The reader, to be released outside of the lock; nil where there is none, or a read has it.
    mutating func close() -> ReaderLease? {
        isClosed = true
        return reader.take()
    }

    /// Ends the stream with its last byte where the length is known, so that nobody has to read nothing to notice.
    private mutating func endIfComplete() {
        guard phase == .ended || position == end else { return }
        phase = .ended
        reader = nil
    }
}

/// A body's reader, lent to one thread at a time.
// @unchecked Sendable: whoever takes it out of the state, under the lock, is the only one to use it until it is put
// back, so no two threads ever use the reader at once.
struct ReaderLease: @unchecked Sendable {
    let reader: any StreamReader
}

extension MultipartError {
    fileprivate static var closedEarly: MultipartError {
        MultipartError(.cancelled, "the stream was closed before its end")
    }
}
