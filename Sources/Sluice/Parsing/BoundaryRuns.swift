/// Which runs of four bytes a boundary has, as far as a small table can tell: it never denies one, and it takes one of some
/// 200 others for one.
struct BoundaryRuns: Sendable {
    /// How many runs there are.
    ///
    /// A delimiter covers them all, one place after the other.
    let count: Int
    /// A bit for each hash.
    let table: ContiguousArray<UInt64>

    /// With fewer runs, more places would have to be looked at than are skipped.
    private static let leastCount = 12
    private static let hashBits: UInt32 = 13

    /// - Returns: Nil where the boundary is too short to have enough of them.
    init?(_ boundary: ContiguousArray<UInt8>.SubSequence) {
        let boundary = ContiguousArray(boundary)
        count = boundary.count - 3
        guard count >= Self.leastCount else { return nil }
        var table = ContiguousArray<UInt64>(repeating: 0, count: 1 << (Int(Self.hashBits) - 6))
        for start in 0..<count {
            let run = unsafe boundary.withUnsafeBytes { boundary in
                unsafe boundary.loadUnaligned(fromByteOffset: start, as: UInt32.self)
            }
            let hash = Self.hash(of: run)
            table[Int(hash >> 6)] |= 1 << UInt64(hash & 63)
        }
        self.table = table
    }

    /// The table's answer for the four bytes there, which the caller vouches for.
    ///
    /// A hash has ``hashBits``; without its lower six it is less than the table has words.
    ///
    /// - Returns: The answer in the lowest bit; the others mean nothing.
    @inline(__always)
    static func bit(of bytes: UnsafeRawPointer, in table: UnsafePointer<UInt64>) -> UInt64 {
        let hash = unsafe hash(of: bytes.loadUnaligned(as: UInt32.self))
        return unsafe table[Int(hash &>> 6)] &>> UInt64(hash & 63)
    }

    @inline(__always)
    private static func hash(of bytes: UInt32) -> UInt32 {
        // Fibonacci hashing: the upper bits depend on all of the bytes.
        (bytes &* 0x9E37_79B1) &>> (32 - hashBits)
    }
}
