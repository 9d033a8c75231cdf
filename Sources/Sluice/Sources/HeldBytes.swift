/// Bytes in memory, held by reference and never copied until a reader copies them into its caller's buffer.
package struct HeldBytes: Sendable {
    private enum Storage {
        case slice(ArraySlice<UInt8>)
        case other(any ContiguousMemory)
    }

    private let storage: Storage
    package let count: Int

    package init(_ bytes: ArraySlice<UInt8>) {
        storage = .slice(bytes)
        count = bytes.count
    }

    package init(_ bytes: [UInt8]) {
        self.init(bytes[...])
    }

    package init(_ memory: some ContiguousMemory) {
        storage = .other(memory)
        count = memory.count
    }

    package init(_ text: String) {
        self.init(HeldText(text))
    }

    /// Holds a collection as it is where it is an array, a slice of one or contiguous memory, else a copy of it.
    package init(collecting bytes: some Collection<UInt8>) {
        if let array = bytes as? [UInt8] {
            self.init(array)
        } else if let slice = bytes as? ArraySlice<UInt8> {
            self.init(slice)
        } else if let memory = bytes as? any ContiguousMemory {
            self.init(memory)
        } else {
            self.init(Array(bytes))
        }
    }

    /// Lends the bytes for the time of the call.
    @inline(__always)
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        switch storage {
        case .slice(let slice): unsafe slice.withUnsafeBytes { unsafe body($0) }
        case .other(let memory): unsafe memory.withBytes { unsafe body($0) }
        }
    }

    /// The bytes from `offset` on, as many as `limit`; an array that is all of them is handed on as it is.
    func array(from offset: Int, upTo limit: Int) -> [UInt8] {
        let length = min(limit, count - offset)
        if case .slice(let slice) = storage {
            let first = slice.startIndex + offset
            return Array(slice[first..<first + length])
        }
        return unsafe withBytes { bytes in
            unsafe Array(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length]))
        }
    }

    /// Copies from `offset` on, as much as fits.
    ///
    /// - Returns: The number of bytes copied.
    @inline(__always)
    package func copy(from offset: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        unsafe withBytes { bytes in
            let length = min(buffer.count, bytes.count - offset)
            guard length > 0, let target = buffer.baseAddress, let source = bytes.baseAddress else { return 0 }
            unsafe target.copyMemory(from: source + offset, byteCount: length)
            return length
        }
    }
}

/// A type whose bytes are one run in memory that stays in place while it is lent: `Data` and its like.
package protocol ContiguousMemory: Sendable {
    var count: Int { get }
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result
}

/// A string's UTF-8.
private struct HeldText: ContiguousMemory {
    private let text: String

    init(_ text: String) {
        var text = text
        // Swift's own strings are; one bridged from another world is made so, once.
        text.makeContiguousUTF8()
        self.text = text
    }

    var count: Int { text.utf8.count }

    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let lent = unsafe text.utf8.withContiguousStorageIfAvailable { unsafe body(UnsafeRawBufferPointer($0)) }
        // Contiguous since `init`, so the copy is for the type checker only.
        return unsafe lent ?? Array(text.utf8).withUnsafeBytes { unsafe body($0) }
    }
}
