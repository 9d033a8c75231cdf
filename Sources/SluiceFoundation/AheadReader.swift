internal import Foundation
internal import Sluice

/// Reads a body on a thread of its own into a buffer of a fixed size, for a sink that many others wait for.
///
/// The thread reads straight into the buffer, and sleeps while that is full; whoever takes the bytes copies them out, and
/// sleeps only while it is empty. The thread ends at the body's end, at an error, and after ``cancel()``.
// @unchecked Sendable: the thread writes only to the buffer's free bytes and `read` reads only from its filled ones, of
// which the monitor's state says which are which. `reader` is made, used and released by the thread alone.
// @safe: the buffer is allocated in `init`, freed in `deinit`, and never leaves the class.
@safe
final class AheadReader: StreamReader, @unchecked Sendable {
    private struct State {
        /// The place of the first filled byte, and the number of them.
        var start = 0
        var count = 0
        /// The offset in the body of the first filled byte.
        var position: Int64 = 0
        /// Where the body stood after each of the thread's reads that are not taken yet.
        var marks: [BodyReader.Mark] = []
        /// Where it stood after the last one that is.
        var lastMark: BodyReader.Mark
        var hasEnded = false
        var failure: MultipartError?
        /// Since when somebody waits for a byte.
        var waitingSince: ContinuousClock.Instant?
        var whenReady: (@Sendable () -> Void)?

        init(at mark: BodyReader.Mark) {
            lastMark = mark
        }

        func isReady(_ capacity: Int) -> Bool { count == capacity || hasEnded || failure != nil }

        /// Adds a mark, or moves the last one where it is about the same part, so that small reads do not add up.
        mutating func append(_ mark: BodyReader.Mark) {
            if let last = marks.last, last.part == mark.part,
                mark.offsetInPart - last.offsetInPart == mark.position - last.position
            {
                marks.removeLast()
            }
            marks.append(mark)
        }
    }

    private let monitor: Monitor<State>
    private let body: MultipartBody
    private let interrupt = ReadInterrupt()
    private let capacity: Int
    private let buffer: UnsafeMutableRawBufferPointer

    /// Makes a reader from the body's start; nothing is read yet.
    ///
    /// - Parameters:
    ///   - body: What to read.
    ///   - capacity: The bytes to read ahead; 64 MiB where it is more.
    /// - Throws: Never, for a body's start.
    init(_ body: MultipartBody, capacity: Int) throws(MultipartError) {
        self.body = body
        monitor = Monitor(State(at: try body.makeReader().mark))
        self.capacity = Int(max(min(Int64(capacity), 64 << 20, body.contentLength ?? .max), 1))
        unsafe buffer = .allocate(byteCount: self.capacity, alignment: 16)
    }

    deinit {
        unsafe buffer.deallocate()
    }

    /// Starts the thread.
    func start() {
        do {
            try WorkerThread.start("sluice-ahead") { self.run() }
        } catch {
            fail(MultipartError(.resourcesExhausted, "no thread to read on", errno: error.rawValue))
        }
    }

    /// Calls `body` once: when the buffer is full, or there is nothing to wait for any more.
    func whenReady(_ body: @escaping @Sendable () -> Void) {
        let isReady = monitor.update { state in
            if state.isReady(capacity) { return true }
            state.whenReady = body
            return false
        }
        if isReady { body() }
    }

    /// What the body's source threw, as soon as it did.
    var failure: MultipartError? { monitor.update { $0.failure } }

    /// How long ``read(into:)`` has been waiting for a byte or the end; nil where it is not.
    var waitedFor: Duration? { monitor.update { $0.waitingSince.map { .now - $0 } } }

    /// Ends the reading: a source that waits is interrupted, the thread ends, and every later read throws.
    func cancel() {
        interrupt.trigger()
        fail(MultipartError(.cancelled, "the read was cancelled"))
    }

    // MARK: Taking

    func read(into target: UnsafeMutableRawBufferPointer) throws(MultipartError) -> Int {
        guard unsafe !target.isEmpty else { return 0 }
        let filled = monitor.wait { state -> Result<Range<Int>, MultipartError>? in
            guard state.count > 0 || state.hasEnded || state.failure != nil else {
                if state.waitingSince == nil { state.waitingSince = .now }
                return nil
            }
            state.waitingSince = nil
            if state.count > 0 {
                let end = min(state.start + state.count, capacity)
                return .success(state.start..<min(end, state.start + target.count))
            }
            return state.failure.map { .failure($0) } ?? .success(0..<0)
        }
        let range = try filled.get()
        guard !range.isEmpty else { return 0 }
        unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[range]))
        monitor.update { state in
            state.start = range.upperBound == capacity ? 0 : range.upperBound
            state.count -= range.count
            state.position += Int64(range.count)
            while let mark = state.marks.first, mark.position <= state.position {
                state.lastMark = mark
                state.marks.removeFirst()
            }
        }
        return range.count
    }

    /// Where the bytes that were taken end.
    var mark: BodyReader.Mark {
        monitor.update { state in
            // The next byte lies within the thread's read that ended at the first mark, or in none yet.
            var mark = state.marks.first ?? state.lastMark
            let missing = max(mark.position - state.position - mark.bytesBehindPart, 0)
            mark.offsetInPart = max(mark.offsetInPart - missing, 0)
            mark.position = state.position
            return mark
        }
    }

    // MARK: The thread

    private func run() {
        do {
            let reader = try body.makeReader(interrupt: interrupt)
            while let free = freeBytes() {
                let count = unsafe try reader.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[free]))
                let mark = reader.mark
                let hasEnded = count == 0 || mark.position == body.contentLength
                publish { state in
                    state.count += count
                    if count > 0 { state.append(mark) }
                    state.hasEnded = hasEnded
                }
                if hasEnded { return }
            }
        } catch {
            fail(error)
        }
    }

    /// Waits for room; nil where nobody wants more.
    private func freeBytes() -> Range<Int>? {
        monitor.wait { state -> Range<Int>?? in
            if state.failure != nil { return .some(nil) }
            guard state.count < capacity else { return nil }
            let first = (state.start + state.count) % capacity
            let end = first < state.start ? state.start : capacity
            return .some(first..<end)
        }
    }

    private func fail(_ error: MultipartError) {
        publish { state in
            if state.failure == nil, !state.hasEnded { state.failure = error }
        }
    }

    private func publish(_ change: (inout State) -> Void) {
        let notify = monitor.update { state -> (@Sendable () -> Void)? in
            change(&state)
            guard state.isReady(capacity) else { return nil }
            return state.whenReady.take()
        }
        notify?()
    }
}
