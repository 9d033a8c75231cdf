internal import CCurl
internal import Sluice

/// The sending side of a transfer: gives libcurl the body's bytes as it asks for them, from where it asks for them.
///
/// Files, memory and the chunks of async sequences are read straight into libcurl's buffer. A body that may wait for anything
/// else is read by a thread of its own one chunk ahead. Where there is nothing yet the transfer pauses. Used on the loop's
/// thread only.
final class BodyFeed {
    /// What libcurl is to be told.
    enum Step: Equatable {
        /// So many bytes are in the buffer, at least one.
        case bytes(Int)
        /// That was all.
        case end
        /// Nothing yet; the transfer is to be resumed when the notification comes.
        case pause
        /// Reading threw; ``BodyFeed/failure`` has it.
        case abort
    }

    private let body: MultipartBody
    private let chunkSize: Int
    private let meter: ProgressMeter?
    private let notify: @Sendable () -> Void

    /// The bytes handed over in this attempt.
    private(set) var position: Int64 = 0
    /// Whether all of the body was handed over.
    private(set) var isAtEnd: Bool
    /// What reading threw.
    private(set) var failure: MultipartError?
    /// Whether the last answer was to wait for the body's source.
    private(set) var isWaiting = false
    /// Whether the bytes were asked for again, and cannot be had again.
    private(set) var isUsedUp = false

    private var reader: BodyReader?
    private var ahead: ReadAhead?
    private var rest: Rest?

    /// A chunk that did not fit: how much of it is gone, and where the body stood behind it.
    private struct Rest {
        let chunk: [UInt8]
        let mark: BodyReader.Mark
        var taken = 0
    }

    /// Makes a feed; nothing is opened yet.
    ///
    /// - Parameters:
    ///   - body: What to read.
    ///   - chunkSize: The bytes to read ahead where the body may wait.
    ///   - meter: Told of every chunk.
    ///   - notify: Called from another thread when a paused transfer can go on.
    init(_ body: MultipartBody, chunkSize: Int, meter: ProgressMeter?, notify: @escaping @Sendable () -> Void) {
        self.body = body
        self.chunkSize = chunkSize
        self.meter = meter
        self.notify = notify
        isAtEnd = body.contentLength == 0
    }

    deinit {
        ahead?.cancel()
    }

    /// Reads the next bytes into libcurl's buffer.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Step {
        if failure != nil { return .abort }
        do {
            let step = try unsafe readNext(into: buffer)
            isWaiting = step == .pause
            if step == .end || position == body.contentLength { isAtEnd = true }
            return step
        } catch {
            failure = error
            close()
            return .abort
        }
    }

    /// Goes back, or on, to an offset of the body.
    ///
    /// - Returns: Whether the body can be read from there.
    func seek(to offset: Int64) -> Bool {
        if failure != nil { return false }
        if offset == position { return true }
        guard body.replay != .once else {
            isUsedUp = true
            return false
        }
        close()
        position = offset
        isAtEnd = position == body.contentLength
        // Makes the report of a new attempt, which must not wait for a chunk that ends behind the last position.
        if let start = try? body.makeReader(startingAt: offset) { meter?.advance(to: start.mark) }
        return true
    }

    /// Closes what is open: the file, the thread.
    func close() {
        reader = nil
        ahead?.cancel()
        ahead = nil
        rest = nil
    }

    private func readNext(into buffer: UnsafeMutableRawBufferPointer) throws(MultipartError) -> Step {
        if let reader { return try unsafe read(reader, into: buffer) }
        if let ahead { return try unsafe read(ahead, into: buffer) }
        if body.waitsForSequencesOnly {
            let opened = try body.makeReader(startingAt: position)
            // To come to a place within a sequence, it is read from its start, which may wait many times.
            if !opened.skipsToItsStart {
                reader = opened
                return try unsafe read(opened, into: buffer)
            }
        }
        let (body, position) = (body, position)
        let opened = ReadAhead(chunkSize: chunkSize) { (interrupt) throws(MultipartError) in
            try body.makeReader(startingAt: position, interrupt: interrupt)
        }
        ahead = opened
        return try unsafe read(opened, into: buffer)
    }

    private func read(
        _ reader: BodyReader,
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(MultipartError) -> Step {
        guard reader.isReady(notify: notify) else { return .pause }
        let count = unsafe try reader.read(into: buffer)
        position += Int64(count)
        meter?.advance(to: reader.mark)
        return count == 0 ? .end : .bytes(count)
    }

    private func read(
        _ ahead: ReadAhead,
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(MultipartError) -> Step {
        if rest == nil {
            switch ahead.take(notify: notify) {
            case .chunk(let chunk, let mark): rest = Rest(chunk: chunk, mark: mark)
            case .pending: return .pause
            case .end: return .end
            case .failed(let error): throw error
            }
        }
        guard let rest else { return .end }
        let count = min(buffer.count, rest.chunk.count - rest.taken)
        unsafe rest.chunk.withUnsafeBytes { bytes in
            unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[rest.taken..<rest.taken + count]))
        }
        position += Int64(count)
        if rest.taken + count == rest.chunk.count {
            self.rest = nil
            // Not before: the mark is where the chunk ends, and the report must not run ahead of the bytes.
            meter?.advance(to: rest.mark)
        } else {
            self.rest?.taken += count
        }
        return .bytes(count)
    }
}
