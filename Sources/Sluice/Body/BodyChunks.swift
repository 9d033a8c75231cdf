/// A body as an async sequence of chunks that the consumer owns.
///
/// Files and everything else that blocks is read on a thread of the iteration's own, one chunk ahead of the consumer.
/// Parts that are async sequences themselves are awaited where the consumer awaits, without that thread and without a
/// copy, so that their chunks keep the size in which they come, up to the chunk size.
///
/// Each iteration is a reading of its own, as far as the body's ``MultipartBody/replay`` allows. Cancelling the task
/// that iterates, or releasing the iterator, ends the reading and its thread.
public struct BodyChunks: AsyncSequence, Sendable {
    /// The bytes of a chunk, never none.
    public typealias Element = [UInt8]
    /// What reading can throw.
    public typealias Failure = MultipartError

    let body: MultipartBody
    let chunkSize: Int
    let progress: (@Sendable (TransferProgress) -> Void)?

    /// Begins a reading.
    ///
    /// - Returns: An iterator.
    public func makeAsyncIterator() -> Iterator {
        Iterator(body, chunkSize, progress.map { ProgressMeter(body, handler: $0) })
    }

    /// One reading of the body.
    public struct Iterator: AsyncIteratorProtocol {
        private enum Source {
            /// About to read this segment.
            case segment(Int)
            /// A run of segments that a thread reads, up to this one.
            case thread(ReadAhead, upTo: Int)
            /// The async sequence that is this segment's content.
            case sequence(any ChunkIterator, Int)
        }

        private let layout: BodyLayout
        private let range: Range<Int64>?
        private let chunkSize: Int
        private let meter: ProgressMeter?
        private var source: Source
        private var position: Int64 = 0
        /// By how many bytes the sources of what came before the present thread were longer, and are in all.
        private var passedSurplus: Int64 = 0
        private var surplus: Int64 = 0
        /// The bytes of the current async sequence that were passed on.
        private var offsetInPart: Int64 = 0
        /// The bytes of the current async sequence that come before the body's range.
        private var toDiscard: Int64 = 0
        /// What is left of a chunk that was larger than the chunk size.
        private var rest: (bytes: HeldBytes, offset: Int)?
        private var outcome: Result<Void, MultipartError>?

        init(_ body: MultipartBody, _ chunkSize: Int, _ meter: ProgressMeter?) {
            layout = body.layout
            range = body.range
            self.chunkSize = chunkSize
            self.meter = meter
            source = .segment(layout.segmentIndex(at: body.range?.lowerBound ?? 0))
        }

        /// The next chunk.
        ///
        /// - Parameter actor: The actor to stay on.
        /// - Returns: The chunk, or nil at the body's end.
        /// - Throws: ``MultipartError`` naming the part; ``MultipartError/Code/cancelled`` where the task was cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(MultipartError) -> [UInt8]? {
            if let outcome {
                try outcome.get()
                return nil
            }
            do {
                if let chunk = try await nextChunk() { return chunk }
                outcome = .success(())
                meter?.finish(completed: true)
                return nil
            } catch {
                outcome = .failure(error)
                meter?.finish(completed: false)
                source = .segment(layout.segments.count)
                rest = nil
                throw error
            }
        }

        private mutating func nextChunk() async throws(MultipartError) -> [UInt8]? {
            while true {
                if Task.isCancelled { throw .cancelledRead }
                if let chunk = takeRest() { return chunk }
                switch source {
                case .segment(let index):
                    guard index < layout.segments.count, position < length ?? .max else { return nil }
                    source = try begin(index)
                case .thread(let reading, let end):
                    if let (chunk, mark) = try await reading.next() {
                        surplus = passedSurplus + mark.sourceSurplus
                        return report(chunk, part: mark.part, offsetInPart: mark.offsetInPart)
                    }
                    source = .segment(end)
                case .sequence(let chunks, let index):
                    try await receive(from: chunks, index)
                }
            }
        }

        private var length: Int64? { range.map { $0.upperBound - $0.lowerBound } }

        /// Opens the segment, and with it those behind it that a thread reads as well.
        private mutating func begin(_ index: Int) throws(MultipartError) -> Source {
            let segment = layout.segments[index]
            if case .content(.async(let sequence)) = segment.kind {
                offsetInPart = 0
                toDiscard = Swift.max((range?.lowerBound ?? 0) - (segment.start ?? 0), 0)
                do {
                    return .sequence(try sequence.chunks(), index)
                } catch {
                    throw error.inPart(label(of: segment))
                }
            }
            let layout = layout
            let end = layout.segments[index...].firstIndex(where: \.isAsync) ?? layout.segments.count
            // A reader of a range counts from the body's start, one of segments from the first of them.
            passedSurplus = range == nil ? surplus : 0
            guard let range, let start = segment.start else {
                return .thread(
                    ReadAhead(chunkSize: chunkSize) { BodyReader(layout, segments: index..<end, interrupt: $0) },
                    upTo: end
                )
            }
            // Where the length is known, so is every segment's start.
            let stop = end < layout.segments.count ? layout.segments[end].start ?? range.upperBound : range.upperBound
            let bytes = Swift.max(start, range.lowerBound)..<Swift.min(stop, range.upperBound)
            return .thread(
                ReadAhead(chunkSize: chunkSize) { BodyReader(layout, range: bytes, origin: 0, interrupt: $0) },
                upTo: end
            )
        }

        /// Awaits the sequence's next chunk and puts it aside for ``takeRest()``.
        private mutating func receive(from chunks: any ChunkIterator, _ index: Int) async throws(MultipartError) {
            let chunk: HeldBytes?
            do {
                chunk = try await chunks.next()
            } catch {
                throw error.inPart(label(of: layout.segments[index]))
            }
            guard let chunk else {
                source = .segment(index + 1)
                return
            }
            let dropped = Swift.min(toDiscard, Int64(chunk.count))
            toDiscard -= dropped
            offsetInPart += dropped
            if dropped < Int64(chunk.count) { rest = (chunk, Int(dropped)) }
        }

        private mutating func takeRest() -> [UInt8]? {
            guard case .sequence(_, let index) = source, let (bytes, offset) = rest else { return nil }
            let limit = Swift.min(Int64(chunkSize), (length ?? .max) - position)
            let chunk = bytes.array(from: offset, upTo: Int(limit))
            offsetInPart += Int64(chunk.count)
            rest = offset + chunk.count < bytes.count ? (bytes, offset + chunk.count) : nil
            if position + Int64(chunk.count) == length {
                rest = nil
                source = .segment(layout.segments.count)
            }
            return report(chunk, part: layout.segments[index].part, offsetInPart: offsetInPart)
        }

        private mutating func report(_ chunk: [UInt8], part: Int?, offsetInPart: Int64) -> [UInt8] {
            position += Int64(chunk.count)
            meter?.advance(
                to: BodyReader.Mark(
                    position: position,
                    part: part,
                    offsetInPart: offsetInPart,
                    sourceSurplus: surplus
                )
            )
            return chunk
        }

        private func label(of segment: BodyLayout.Segment) -> MultipartError.PartLabel? {
            segment.part.map { layout.labels[$0] }
        }
    }
}

extension BodyLayout.Segment {
    fileprivate var isAsync: Bool {
        if case .content(.async) = kind { true } else { false }
    }
}

extension ReadAhead {
    /// Awaits the next chunk; cancelling the task ends the reading.
    fileprivate func next() async throws(MultipartError) -> ([UInt8], BodyReader.Mark)? {
        while true {
            let step = await withTaskCancellationHandler {
                await withCheckedContinuation { (continuation: CheckedContinuation<Step, Never>) in
                    let step = take { continuation.resume(returning: .pending) }
                    if case .pending = step { return }
                    continuation.resume(returning: step)
                }
            } onCancel: {
                cancel()
            }
            switch step {
            case .chunk(let bytes, let mark): return (bytes, mark)
            case .pending: continue
            case .end: return nil
            case .failed(let error): throw error
            }
        }
    }
}
