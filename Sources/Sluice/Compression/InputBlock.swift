/// A block of a content, with the bytes before it that it may refer to.
struct InputBlock {
    enum Place {
        /// In the content's own memory.
        case held(HeldBytes, Range<Int>)
        /// At the end of what a buffer was filled with.
        case buffer(BlockBuffer)
    }

    let place: Place
    /// The bytes before the block, at most ``DeflateFormat/windowSize``.
    let historyCount: Int
    /// Whether the content ends with it; a last block may be empty.
    let isLast: Bool

    /// Lends the history with the block behind it, and says where the block starts.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer, Int) -> Result) -> Result {
        switch place {
        case .held(let held, let range):
            unsafe held.withBytes { bytes in
                unsafe body(UnsafeRawBufferPointer(rebasing: bytes[range]), historyCount)
            }
        case .buffer(let buffer):
            unsafe buffer.withBytes { unsafe body($0, historyCount) }
        }
    }
}

/// Memory for a block and its history; nothing is allocated before it is filled.
///
/// Filled by the thread whose turn it is to read, and lent to the one that compresses the block.
// @unchecked Sendable: written only under the reading turn of `BlockReader`, by the worker that owns the buffer; until
// it is written again, others only read it, see `BlockReader`.
// @safe: the pointer is allocated and freed here and never leaves the class but lent.
@safe
final class BlockBuffer: @unchecked Sendable {
    private let capacity: Int
    private var memory: UnsafeMutableRawBufferPointer?
    private var count = 0

    /// - Parameter blockSize: The most bytes of a block.
    init(blockSize: Int) {
        capacity = DeflateFormat.windowSize + blockSize
    }

    deinit { unsafe memory?.deallocate() }

    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard let memory = unsafe memory else { return unsafe body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        return unsafe body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
    }

    /// Begins with the last bytes of what a buffer holds, which may be this one.
    ///
    /// - Returns: How many these are.
    func begin(withEndOf last: BlockBuffer?) -> Int {
        let memory = unsafe allocated()
        guard let last, let bytes = unsafe last.memory?[..<last.count] else {
            count = 0
            return 0
        }
        let history = unsafe UnsafeRawBufferPointer(rebasing: bytes.suffix(DeflateFormat.windowSize))
        // Which allows for overlap, and the places behind it are filled next.
        unsafe memory.copyMemory(from: history)
        count = history.count
        return count
    }

    /// Appends what `fill` writes.
    func append(
        upTo limit: Int,
        _ fill: (UnsafeMutableRawBufferPointer) throws(MultipartError) -> Int
    ) throws(MultipartError) -> Int {
        let memory = unsafe allocated()
        let room = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[count..<min(count + limit, capacity)])
        let added = unsafe try fill(room)
        count += added
        return added
    }

    private func allocated() -> UnsafeMutableRawBufferPointer {
        if let memory = unsafe memory { return unsafe memory }
        let fresh = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
        unsafe memory = unsafe fresh
        return unsafe fresh
    }
}
