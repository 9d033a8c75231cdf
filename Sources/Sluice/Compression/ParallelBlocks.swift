/// Compresses blocks ahead of the reader, on threads of its own.
///
/// The workers take turns at reading the source, each into a buffer of its own, and compress at the same time. There
/// are two more buffers for compressed blocks than workers, so that a worker need not wait for the reader, and no more.
/// A worker is started only when the ones before it are at work. Releasing the object ends them, and returns when none
/// of them is in the source any more.
final class ParallelBlocks: CompressedBlocks {
    private let work: SharedWork

    /// - Parameters:
    ///   - workers: The most threads, at least one.
    ///   - settings: The level and block size.
    ///   - interrupt: Ends reads of the source that wait.
    ///   - makeReader: Makes what reads the source, given the interrupt that ends its waiting.
    init(
        workers: Int,
        _ settings: GzipSettings,
        interrupt: ReadInterrupt?,
        makeReader: (ReadInterrupt) -> BlockReader
    ) {
        work = SharedWork(workers, settings, outer: interrupt, makeReader)
    }

    deinit {
        work.end()
    }

    func next(into target: UnsafeMutableRawBufferPointer) throws(MultipartError) -> CompressedBlock {
        let finished = try work.take()
        unsafe finished.output.copy(finished.block.count, to: target)
        work.giveBack(finished.output)
        return finished.block
    }
}

/// What the workers and the reader share.
// @unchecked Sendable: `reader` is used only by the thread that set `isReading`, and after the last of them was
// seen to have ended its turn; everything else is immutable or `Sendable` itself.
private final class SharedWork: @unchecked Sendable {
    private struct State {
        /// Whether a worker is in the source.
        var isReading = false
        /// The number of blocks that were begun.
        var begun = 0
        /// Whether there is nothing more to read: the last block was, or reading failed, or nobody wants more.
        var isDone = false
        var workers = 0
        /// The block that the reader wants next.
        var wanted = 0
        var finished: [Int: Result<Finished, MultipartError>] = [:]
        var outputs: [OutputBuffer] = []
        var outputsMade = 0
    }

    struct Finished: Sendable {
        let block: CompressedBlock
        let output: OutputBuffer
    }

    private enum Turn {
        case read(Int, OutputBuffer)
        case stop
    }

    private let state = Monitor(State())
    private let workers: Int
    private let settings: GzipSettings
    private let reader: BlockReader
    private let interrupt = ReadInterrupt()
    private let outer: ReadInterrupt?
    private let handler: Int

    init(_ workers: Int, _ settings: GzipSettings, outer: ReadInterrupt?, _ makeReader: (ReadInterrupt) -> BlockReader)
    {
        self.workers = workers
        self.settings = settings
        self.outer = outer
        let interrupt = interrupt
        reader = makeReader(interrupt)
        handler = outer?.onTrigger { interrupt.trigger() } ?? 0
    }

    // MARK: The reader's side

    /// Waits for the next block.
    func take() throws(MultipartError) -> Finished {
        try startWorker(unlessThereAre: 1)
        let result = state.wait { state in
            state.finished.removeValue(forKey: state.wanted)
        }
        state.update { $0.wanted += 1 }
        return try result.get()
    }

    func giveBack(_ output: OutputBuffer) {
        state.update { $0.outputs.append(output) }
    }

    /// Ends the workers: at once those that wait, the others with the block they are at.
    func end() {
        outer?.removeHandler(handler)
        state.update { $0.isDone = true }
        interrupt.trigger()
        // The source may be closed or changed by its owner when this returns.
        state.wait { state in state.isReading ? nil : () }
        reader.close()
    }

    // MARK: The workers' side

    private func startWorker(unlessThereAre enough: Int) throws(MultipartError) {
        let isNeeded = state.update { state in
            guard state.workers < enough, !state.isDone else { return false }
            state.workers += 1
            return true
        }
        guard isNeeded else { return }
        do {
            try WorkerThread.start("sluice-gzip") { self.run() }
        } catch {
            let isAlone = state.update { state in
                state.workers -= 1
                return state.workers == 0
            }
            // Fewer workers do as well, if not as fast.
            if isAlone { throw MultipartError(.resourcesExhausted, "no thread to compress on", error) }
        }
    }

    private func run() {
        let compressor = Result { () throws(MultipartError) in try BlockCompressor(level: settings.level) }
        let buffer = BlockBuffer(blockSize: settings.blockSize)
        while case .read(let index, let output) = nextTurn() {
            let block = Result { () throws(MultipartError) in try reader.next(into: buffer) }
            let isLast = (try? block.get().isLast) ?? true
            state.update { state in
                state.isReading = false
                if isLast { state.isDone = true }
            }
            if !isLast { try? startWorker(unlessThereAre: workers) }
            let result = Result { () throws(MultipartError) in
                Finished(block: try output.fill(with: block.get(), by: compressor.get()), output: output)
            }
            state.update { $0.finished[index] = result }
        }
    }

    /// Waits for the turn to read, and for room for what will come of it.
    private func nextTurn() -> Turn {
        state.wait { state in
            if state.isDone {
                state.workers -= 1
                return .stop
            }
            guard !state.isReading else { return nil }
            let output: OutputBuffer
            if let free = state.outputs.popLast() {
                output = free
            } else if state.outputsMade < workers + 2 {
                state.outputsMade += 1
                output = OutputBuffer(settings)
            } else {
                return nil
            }
            state.isReading = true
            defer { state.begun += 1 }
            return .read(state.begun, output)
        }
    }
}

/// Memory for one compressed block.
// @unchecked Sendable: it belongs to one worker, then to the reader; `SharedWork` hands it over under its lock.
// @safe: the pointer is allocated in `init`, freed in `deinit`, and never leaves the class.
@safe
private final class OutputBuffer: @unchecked Sendable {
    private let memory: UnsafeMutableRawBufferPointer

    init(_ settings: GzipSettings) {
        unsafe memory = .allocate(byteCount: BlockCompressor.bound(settings.blockSize), alignment: 16)
    }

    deinit { unsafe memory.deallocate() }

    func fill(with block: InputBlock, by compressor: BlockCompressor) throws(MultipartError) -> CompressedBlock {
        unsafe try compressor.compress(block, into: memory)
    }

    func copy(_ count: Int, to target: UnsafeMutableRawBufferPointer) {
        unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<count]))
    }
}
