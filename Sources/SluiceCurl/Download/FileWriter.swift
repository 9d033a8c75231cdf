internal import Sluice
internal import Synchronization

/// The way of a download's bytes from the client's thread to its file.
///
/// Bytes are gathered in blocks, a few of which are on their way at a time; a disk thread does one operation after the
/// other, in order. All that is heard of them are events.
final class FileWriter: Sendable {
    /// What is heard.
    enum Event: Sendable {
        /// The file is ready, and may have bytes already.
        case opened(ResumePoint?)
        /// There is a free block again.
        case room
        /// It cannot be written.
        case failed(TransferError)
        /// It is whole and in its place.
        case committed(path: String, byteCount: Int64)
        /// It is closed, and what is not kept is removed.
        case closed
    }

    private enum Operation: Sendable {
        case open
        case restart(PartialRecord?)
        case write(Block)
        case commit(total: Int64?)
        case close(keeps: Bool)
    }

    private struct State {
        var operations: [Operation] = []
        var isRunning = false
        var freeBlocks: [Block] = []
        var blockCount = 0
        var wantsRoom = false
        var hasFailed = false
        var isAbandoned = false
        var isClosed = false
    }

    /// Four blocks of 128 KiB: enough for the network and the disk to work at the same time.
    private static let mostBlocks = 4

    private let threads: DiskThreads
    // Taken by one operation at a time, which no other one waits for.
    private let file: Mutex<PartialFile>
    private let state = Mutex(State())
    private let notify: @Sendable (Event) -> Void

    /// Makes a writer; nothing is opened yet.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - threads: Who writes.
    ///   - notify: Called with what happens, from another thread.
    /// - Throws: Where there is no thread to be had.
    init(
        _ file: sending PartialFile,
        _ threads: DiskThreads,
        notify: @escaping @Sendable (Event) -> Void
    ) throws(Errno) {
        self.file = Mutex(file)
        self.threads = threads
        self.notify = notify
        try threads.beginFile()
    }

    // MARK: From the client's thread

    /// Opens the file and looks at what an earlier download left behind.
    func open() { add(.open) }

    /// Empties the file, and writes down what the bytes that follow are a part of.
    func restart(_ record: PartialRecord?) { add(.restart(record)) }

    /// A block to be filled; nil where all are on their way, and the event comes when one is back.
    func takeBlock() -> Block? {
        state.withLock { state in
            if let block = state.freeBlocks.popLast() { return block }
            guard state.blockCount < Self.mostBlocks else {
                state.wantsRoom = true
                return nil
            }
            state.blockCount += 1
            return Block()
        }
    }

    /// Writes a block behind those before, and takes it back.
    func write(_ block: Block) { add(.write(block)) }

    /// Checks the file, gives it its name, and closes it.
    func commit(total: Int64?) { add(.commit(total: total)) }

    /// Closes the file, unless it has its name already.
    ///
    /// - Parameter keeps: Whether what is on its way is still written, and what is there is kept for another download.
    func abandon(keeps: Bool) {
        state.withLock { state in
            state.isAbandoned = true
            if !keeps { state.operations.removeAll() }
        }
        add(.close(keeps: keeps))
    }

    private func add(_ operation: Operation) {
        let startsRun = state.withLock { state in
            // Closed, there may be no thread left that would take it.
            if state.isClosed { return false }
            state.operations.append(operation)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if startsRun { threads.run { self.runNext() } }
    }

    // MARK: On a disk thread

    /// Does one operation, and goes behind other files' for the next.
    private func runNext() {
        let operation = state.withLock { state in state.operations.isEmpty ? nil : state.operations.removeFirst() }
        if let operation { perform(operation) }
        let goesOn = state.withLock { state in
            state.isRunning = !state.operations.isEmpty
            return state.isRunning
        }
        if goesOn { threads.run { self.runNext() } }
    }

    private func perform(_ operation: Operation) {
        if case .close(let keeps) = operation { return close(keeps: keeps) }
        let hasFailed = state.withLock { $0.hasFailed }
        do throws(TransferError) {
            switch operation {
            case .open:
                let point = try file.withLock { (file) throws(TransferError) in
                    try file.open { self.state.withLock { $0.isAbandoned } }
                }
                notify(.opened(point))
            case .restart(let record) where !hasFailed:
                try file.withLock { (file) throws(TransferError) in try file.restart(record) }
            case .write(let block):
                defer { release(block) }
                if hasFailed { return }
                try file.withLock { (file) throws(TransferError) in try file.write(block) }
            case .commit(let total) where !hasFailed:
                let committed = try file.withLock { (file) throws(TransferError) in
                    try file.commit(total: total) { self.state.withLock { $0.isAbandoned } }
                }
                // Abandoned meanwhile: closing comes next.
                guard let committed else { return }
                markClosed()
                threads.endFile()
                notify(.committed(path: committed.path, byteCount: committed.byteCount))
            default: break
            }
        } catch {
            state.withLock { $0.hasFailed = true }
            notify(.failed(error))
        }
    }

    private func close(keeps: Bool) {
        file.withLock { $0.close(keeps: keeps) }
        markClosed()
        threads.endFile()
        notify(.closed)
    }

    /// Takes no more operations, and drops those that came meanwhile.
    private func markClosed() {
        state.withLock { state in
            state.isClosed = true
            state.operations.removeAll()
        }
    }

    private func release(_ block: Block) {
        block.count = 0
        let wantsRoom = state.withLock { state in
            state.freeBlocks.append(block)
            defer { state.wantsRoom = false }
            return state.wantsRoom
        }
        if wantsRoom { notify(.room) }
    }

    /// A piece of memory that goes back and forth between the two threads.
    // @unchecked Sendable: whoever took it from the writer has it alone, until it is written or released.
    // @safe: the memory is allocated in `init`, freed in `deinit`, and lent to nobody.
    @safe
    final class Block: @unchecked Sendable {
        static let capacity = 128 * 1024

        private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 4096)
        var count = 0

        deinit {
            unsafe memory.deallocate()
        }

        var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(rebasing: memory[..<count]) }

        /// Reads bytes of a file into it, behind those that it has.
        ///
        /// - Returns: How many; 0 at the file's end, and where there is no room.
        func read(_ descriptor: Int32, at offset: Int64, upTo limit: Int) throws(Errno) -> Int {
            let room = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[count...].prefix(limit))
            let read = try unsafe SystemCalls.read(descriptor, at: offset, into: room)
            count += read
            return read
        }

        /// Copies as many bytes as fit.
        ///
        /// - Returns: How many did.
        func append(_ bytes: UnsafeRawBufferPointer) -> Int {
            let fitting = min(bytes.count, Self.capacity - count)
            unsafe UnsafeMutableRawBufferPointer(rebasing: memory[count...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<fitting]))
            count += fitting
            return fitting
        }
    }
}
