internal import Foundation
internal import Sluice
internal import Synchronization

/// All of a ``BodyInputStream`` that is not an `InputStream`, and that threads may share.
final class StreamCore: Sendable {
    private let body: MultipartBody
    private let start: Int64
    private let ahead: AheadReader?
    private let finishesMeter: Bool
    /// Let go of at the end, because its handler may hold on to this object by way of a handle.
    private let meter: Mutex<ProgressMeter?>
    private let interrupt = ReadInterrupt()
    private let state: Mutex<StreamState>

    /// - Parameters:
    ///   - body: What to read.
    ///   - start: The offset in the body to start at.
    ///   - ahead: What reads the body from its start, where that is not to be done by the thread that reads the stream.
    ///   - meter: Told of every read, and of the end.
    ///   - finishesMeter: Whether the end of this stream is the end of what the meter measures.
    init(
        _ body: MultipartBody,
        startingAt start: Int64 = 0,
        ahead: AheadReader? = nil,
        meter: ProgressMeter?,
        finishesMeter: Bool = true
    ) {
        self.body = body
        self.start = start
        self.ahead = ahead
        self.finishesMeter = finishesMeter
        self.meter = Mutex(meter)
        state = Mutex(StreamState(position: start, end: body.contentLength))
    }

    var hasBytesAvailable: Bool { state.withLock { !$0.hasEnded } }
    var status: Stream.Status { state.withLock { $0.status } }
    var error: MultipartError? { state.withLock { $0.error } }
    var position: Int64 { state.withLock { $0.position } }

    func open() {
        let hasEnded = state.withLock { state in
            state.open { () throws(MultipartError) in
                if let ahead { return ahead }
                return try body.makeReader(startingAt: start, interrupt: interrupt)
            }
            return state.hasEnded
        }
        if hasEnded { finishMeter(completed: true) }
    }

    /// Takes the reader out for the time of the read, so that nobody else waits for what the read waits for.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let reader: any StreamReader
        switch state.withLock({ $0.beginReading(buffer.count) }) {
        case .refuse(let result): return result
        case .proceed(let lease): reader = lease.reader
        }
        do {
            let count = unsafe try reader.read(into: buffer)
            let mark = reader.mark
            let lease = ReaderLease(reader: reader)
            let outcome = state.withLock { $0.endReading(lease, count) }
            if outcome.count > 0 { meter.withLock(\.self)?.advance(to: mark) }
            if outcome.isLast { finishMeter(completed: outcome.count >= 0) }
            return outcome.count
        } catch {
            state.withLock { $0.fail(error) }
            finishMeter(completed: false)
            return -1
        }
    }

    func close() {
        let (lease, hasEnded) = state.withLock { state in (state.close(), state.hasEnded) }
        interrupt.trigger()
        ahead?.cancel()
        if !hasEnded { finishMeter(completed: false) }
        // Released here and not under the lock, because it may run code of a source's own.
        withExtendedLifetime(lease) {}
    }

    private func finishMeter(completed: Bool) {
        let meter = meter.withLock { $0.take() }
        if finishesMeter { meter?.finish(completed: completed) }
    }
}
