/// Finds a delimiter in a run of bytes, of which it reads few.
///
/// A delimiter is a line break and `--boundary`. Wherever it lies, it covers each place of four bytes that is as far from
/// the last such place as the boundary has runs of four bytes. So those places alone are looked at, with one look into a
/// table of the boundary's runs (``BoundaryRuns``), and where one is none of them, no delimiter begins in all the bytes
/// that could lead to it. Content that is not made for it fails that test: some 40 bytes are done with one probe.
///
/// What is left, and all where the boundary is short, is searched 64 bytes at a time. A delimiter's first byte (CR, or LF
/// where lines may end in that alone) occurs in it once, because a boundary has neither. So each position is probed for
/// the first and for the last byte, 16 positions with one comparison each. Where two of 8 pass, they are probed for the
/// delimiter's first eight bytes as well; and what passes is compared with the rest. Two positions that pass are so far
/// apart that what was equal does not overlap: the work is linear for any bytes, and of two comparisons for each 16 bytes
/// at most.
///
/// Four of the parser's files read memory without bounds checks: this one, ``BoundaryRuns``, `ByteSearch.swift` and
/// `ParameterScanner.swift`, each of which says why it may. What makes this one sound: `needle` has at
/// least 4 bytes (a line break, two hyphens, one character); a probe at `i` reads 16 bytes at `i` plus at most `last`,
/// which is the needle's length less one, and only where `i + 15 + last` is inside the bytes; a comparison at `i` reads
/// `needle.count` bytes from `i`, and only where `i + last` is inside them; a place of four bytes is the end of a
/// delimiter at a position where the whole of it is inside them.
struct DelimiterSearch: Sendable {
    private typealias Mask = SIMDMask<SIMD16<Int8>>

    /// The line break's last or both bytes, two hyphens and the boundary.
    private let needle: ContiguousArray<UInt8>
    private let firstByte: SIMD16<UInt8>
    private let lastByte: SIMD16<UInt8>
    /// The bytes behind the first, up to the eighth, each 16 times; for a shorter needle, the last one again.
    private let head: ContiguousArray<SIMD16<UInt8>>
    /// Nil where the boundary is too short for it to be of use.
    private let runs: BoundaryRuns?

    /// - Parameters:
    ///   - needle: A delimiter, which begins with CR LF, or with LF.
    ///   - boundaryCount: How many of its bytes, which are its last ones, are the boundary.
    init(_ needle: ContiguousArray<UInt8>, boundaryCount: Int) {
        self.needle = needle
        runs = BoundaryRuns(needle.suffix(boundaryCount))
        firstByte = SIMD16(repeating: needle.first ?? 0)
        lastByte = SIMD16(repeating: needle.last ?? 0)
        head = ContiguousArray((1..<8).map { SIMD16(repeating: needle[min($0, needle.count - 1)]) })
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
            unsafe head.withUnsafeBufferPointer { head in
                unsafe bytes.withUnsafeBytes { bytes in
                    guard let needle = needle.baseAddress, let head = head.baseAddress, let bytes = bytes.baseAddress
                    else { return nil }
                    let last = self.needle.count &- 1
                    let pattern = unsafe Pattern(needle: needle, head: head, last: last)
                    var index = range.lowerBound
                    /// The last position that the delimiter fits in.
                    let end = range.upperBound &- last &- 1
                    if let runs, let found = unsafe skip(bytes, &index, end, runs, pattern, &comparisons) {
                        return found
                    }
                    return unsafe first(in: bytes, &index, until: end &+ 1, end, pattern, &comparisons)
                }
            }
        }
    }

    /// The needle's memory, lent for a search.
    @unsafe
    private struct Pattern {
        let needle: UnsafeRawPointer
        let head: UnsafePointer<SIMD16<UInt8>>
        /// The offset of the needle's last byte.
        let last: Int
    }

    /// Looks at places that a delimiter would cover, four at a time, and closer only where one has bytes of the boundary.
    ///
    /// - Returns: Where the delimiter is; nil where it is not before `index`, up to which all was searched then.
    @inline(__always)
    private func skip(
        _ bytes: UnsafeRawPointer,
        _ index: inout Int,
        _ end: Int,
        _ runs: BoundaryRuns,
        _ pattern: Pattern,
        _ comparisons: inout Int
    ) -> Int? {
        unsafe runs.table.withUnsafeBufferPointer { table in
            guard let table = table.baseAddress else { return nil }
            let count = runs.count
            // The last four bytes of a delimiter, if one were at `index`.
            let tail = unsafe bytes + (pattern.last &- 3)
            while index &+ 3 &* count <= end {
                let next = index &+ 4 &* count
                let first = unsafe BoundaryRuns.bit(of: tail + index, in: table)
                let second = unsafe BoundaryRuns.bit(of: tail + (index &+ count), in: table)
                let third = unsafe BoundaryRuns.bit(of: tail + (index &+ 2 &* count), in: table)
                let fourth = unsafe BoundaryRuns.bit(of: tail + (index &+ 3 &* count), in: table)
                if (first | second | third | fourth) & 1 == 0 {
                    index = next
                } else if let found = unsafe self.first(in: bytes, &index, until: next, end, pattern, &comparisons) {
                    return found
                }
            }
            return nil
        }
    }

    /// Looks at each position from `index` to before `until`, and at some behind it.
    ///
    /// - Returns: Where the delimiter is; nil where it is not before `index`, up to which all was searched then.
    @inline(__always)
    private func first(
        in bytes: UnsafeRawPointer,
        _ index: inout Int,
        until: Int,
        _ end: Int,
        _ pattern: Pattern,
        _ comparisons: inout Int
    ) -> Int? {
        let last = unsafe pattern.last
        while index < until, index &+ 63 <= end {
            let first = unsafe probe(bytes + index, last)
            let second = unsafe probe(bytes + (index &+ 16), last)
            let third = unsafe probe(bytes + (index &+ 32), last)
            let fourth = unsafe probe(bytes + (index &+ 48), last)
            if isAny((first .| second) .| (third .| fourth)) {
                if let found = unsafe match(bytes, index, first, pattern, &comparisons) { return found }
                if let found = unsafe match(bytes, index &+ 16, second, pattern, &comparisons) { return found }
                if let found = unsafe match(bytes, index &+ 32, third, pattern, &comparisons) { return found }
                if let found = unsafe match(bytes, index &+ 48, fourth, pattern, &comparisons) { return found }
            }
            index &+= 64
        }
        while index < until, index &+ 15 <= end {
            let hits = unsafe probe(bytes + index, last)
            if let found = unsafe match(bytes, index, hits, pattern, &comparisons) { return found }
            index &+= 16
        }
        while index < until, index <= end {
            if unsafe isDelimiter(bytes + index, pattern) { return index }
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
        _ pattern: Pattern,
        _ comparisons: inout Int
    ) -> Int? {
        guard isAny(mask) else { return nil }
        var words = unsafe unsafeBitCast(mask, to: SIMD2<UInt64>.self)
        // One bit a byte.
        var hits = (UInt64(littleEndian: words[0]) & Self.bits, UInt64(littleEndian: words[1]) & Self.bits)
        // Where hits are closer than a delimiter's first eight bytes are long, most of them are none.
        if (hits.0 & (hits.0 &- 1)) | (hits.1 & (hits.1 &- 1)) != 0 {
            words = unsafe unsafeBitCast(mask .& probeHead(bytes + index, pattern), to: SIMD2<UInt64>.self)
            hits = (UInt64(littleEndian: words[0]) & Self.bits, UInt64(littleEndian: words[1]) & Self.bits)
        }
        if let found = unsafe firstMatch(bytes, index, hits.0, pattern, &comparisons) { return found }
        return unsafe firstMatch(bytes, index &+ 8, hits.1, pattern, &comparisons)
    }

    private static var bits: UInt64 { 0x8080_8080_8080_8080 }

    /// Which of 16 positions have the delimiter's second to eighth byte.
    @inline(__always)
    private func probeHead(_ bytes: UnsafeRawPointer, _ pattern: Pattern) -> Mask {
        var mask = Mask(repeating: true)
        for offset in 1..<8 {
            let probed = unsafe bytes.loadUnaligned(
                fromByteOffset: min(offset, pattern.last),
                as: SIMD16<UInt8>.self
            )
            let expected = unsafe pattern.head[offset &- 1]
            mask .&= probed .== expected
        }
        return mask
    }

    @inline(__always)
    private func firstMatch(
        _ bytes: UnsafeRawPointer,
        _ index: Int,
        _ hits: UInt64,
        _ pattern: Pattern,
        _ comparisons: inout Int
    ) -> Int? {
        var hits = hits
        while hits != 0 {
            let position = index &+ (hits.trailingZeroBitCount &>> 3)
            comparisons &+= 1
            if unsafe isDelimiter(bytes + position, pattern) { return position }
            hits &= hits &- 1
        }
        return nil
    }

    /// Whether the delimiter is there, eight bytes at a time.
    @inline(__always)
    private func isDelimiter(_ bytes: UnsafeRawPointer, _ pattern: Pattern) -> Bool {
        let count = unsafe pattern.last &+ 1
        guard count >= 8 else {
            // The first four and the last four, which are the same ones or overlap.
            return unsafe bytes.loadUnaligned(as: UInt32.self) == pattern.needle.loadUnaligned(as: UInt32.self)
                && bytes.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
                    == pattern.needle.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
        }
        var offset = 0
        while offset < count &- 8 {
            guard
                unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                    == pattern.needle.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            else { return false }
            offset &+= 8
        }
        return unsafe bytes.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
            == pattern.needle.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
    }
}
