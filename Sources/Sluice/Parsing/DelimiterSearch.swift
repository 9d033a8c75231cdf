/// Finds a delimiter in a run of bytes, 64 bytes at a time.
///
/// A delimiter is a line break and `--boundary`. Its first byte (CR, or LF where lines may end in that alone) occurs in
/// it once, because a boundary has neither. So each position is probed for the first and for the last byte, 16 positions
/// with one comparison each; and what passes both is compared with the rest, which is linear for any bytes, because
/// no two such comparisons overlap by more than the one byte that ended the first.
///
/// This file is the parser's only one that reads memory without bounds checks. What makes it sound: `needle` has at
/// least 4 bytes (a line break, two hyphens, one character); a probe at `i` reads 16 bytes at `i` and at `i + last`,
/// and only where `i + 15 + last` is inside the bytes; a comparison at `i` reads `needle.count` bytes from `i`, and only
/// where `i + last` is inside them.
struct DelimiterSearch: Sendable {
    typealias Mask = SIMDMask<SIMD16<Int8>>

    /// The line break's last or both bytes, two hyphens and the boundary.
    private let needle: ContiguousArray<UInt8>
    private let firstByte: SIMD16<UInt8>
    private let lastByte: SIMD16<UInt8>
    private let head: UInt32

    /// - Parameter needle: A delimiter, which begins with CR LF, or with LF.
    init(_ needle: ContiguousArray<UInt8>) {
        self.needle = needle
        firstByte = SIMD16(repeating: needle.first ?? 0)
        lastByte = SIMD16(repeating: needle.last ?? 0)
        head = needle.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Where the delimiter is.
    ///
    /// - Parameters:
    ///   - bytes: Where to look.
    ///   - range: The part of `bytes` that the whole delimiter must be in.
    ///   - comparisons: Incremented for each position that passes the probes: what a test of linearity counts.
    /// - Returns: The offset of its first byte, or nil.
    func first(in bytes: Span<UInt8>, _ range: Range<Int>, comparisons: inout Int) -> Int? {
        guard range.lowerBound >= 0, range.upperBound <= bytes.count, range.count >= needle.count else { return nil }
        return unsafe needle.withUnsafeBytes { needle in
            unsafe bytes.withUnsafeBytes { bytes in
                guard let needle = needle.baseAddress, let bytes = bytes.baseAddress else { return nil }
                return unsafe first(in: bytes, range, needle, &comparisons)
            }
        }
    }

    @inline(__always)
    private func first(
        in bytes: UnsafeRawPointer,
        _ range: Range<Int>,
        _ needle: UnsafeRawPointer,
        _ comparisons: inout Int
    ) -> Int? {
        let last = self.needle.count &- 1
        var index = range.lowerBound
        /// The last position that the delimiter fits in.
        let end = range.upperBound &- self.needle.count

        while index &+ 63 <= end {
            let first = unsafe probe(bytes + index, last)
            let second = unsafe probe(bytes + (index &+ 16), last)
            let third = unsafe probe(bytes + (index &+ 32), last)
            let fourth = unsafe probe(bytes + (index &+ 48), last)
            if isAny((first .| second) .| (third .| fourth)) {
                if let found = unsafe match(bytes, index, first, needle, &comparisons) { return found }
                if let found = unsafe match(bytes, index &+ 16, second, needle, &comparisons) { return found }
                if let found = unsafe match(bytes, index &+ 32, third, needle, &comparisons) { return found }
                if let found = unsafe match(bytes, index &+ 48, fourth, needle, &comparisons) { return found }
            }
            index &+= 64
        }
        while index &+ 15 <= end {
            let hits = unsafe probe(bytes + index, last)
            if isAny(hits), let found = unsafe match(bytes, index, hits, needle, &comparisons) { return found }
            index &+= 16
        }
        while index <= end {
            if unsafe isDelimiter(bytes + index, needle) { return index }
            index &+= 1
        }
        return nil
    }

    /// Which of 16 positions have the delimiter's first byte, and its last one where that would be.
    @inline(__always)
    private func probe(_ bytes: UnsafeRawPointer, _ last: Int) -> Mask {
        let first = unsafe bytes.loadUnaligned(as: SIMD16<UInt8>.self) .== firstByte
        return unsafe first .& (bytes.loadUnaligned(fromByteOffset: last, as: SIMD16<UInt8>.self) .== lastByte)
    }

    @inline(__always)
    private func isAny(_ mask: Mask) -> Bool {
        let words = unsafe unsafeBitCast(mask, to: SIMD2<UInt64>.self)
        return words[0] | words[1] != 0
    }

    /// The first of the mask's positions at which the delimiter is.
    @inline(__always)
    private func match(
        _ bytes: UnsafeRawPointer,
        _ index: Int,
        _ mask: Mask,
        _ needle: UnsafeRawPointer,
        _ comparisons: inout Int
    ) -> Int? {
        let words = unsafe unsafeBitCast(mask, to: SIMD2<UInt64>.self)
        for half in 0..<2 {
            // One bit a byte.
            var bits = UInt64(littleEndian: words[half]) & 0x8080_8080_8080_8080
            while bits != 0 {
                let position = index &+ half &* 8 &+ (bits.trailingZeroBitCount &>> 3)
                comparisons &+= 1
                if unsafe isDelimiter(bytes + position, needle) { return position }
                bits &= bits &- 1
            }
        }
        return nil
    }

    @inline(__always)
    private func isDelimiter(_ bytes: UnsafeRawPointer, _ needle: UnsafeRawPointer) -> Bool {
        guard unsafe UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)) == head else { return false }
        let count = self.needle.count
        guard count >= 8 else {
            // The last four, which are the same ones or overlap them.
            return unsafe bytes.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
                == needle.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
        }
        var offset = 0
        while offset < count &- 8 {
            guard
                unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                    == needle.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            else { return false }
            offset &+= 8
        }
        return unsafe bytes.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
            == needle.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
    }
}
