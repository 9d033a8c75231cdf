#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension Span<UInt8> {
    /// Where a byte is, by the C library, which looks at 32 or more of them at a time.
    ///
    /// - Parameters:
    ///   - byte: The byte.
    ///   - range: Where to look; what lies outside the span is not looked at.
    /// - Returns: The offset of the first one, or nil.
    func firstOffset(of byte: UInt8, in range: Range<Int>) -> Int? {
        let range = range.clamped(to: 0..<count)
        return unsafe withUnsafeBytes { bytes -> Int? in
            // `range` is within `bytes`, so the result is as well.
            guard let start = bytes.baseAddress,
                let found = unsafe memchr(start + range.lowerBound, Int32(byte), range.count)
            else { return nil }
            return unsafe UnsafeRawPointer(found) - start
        }
    }

    /// Where a byte is that ends a line or has no place in one: LF, CR, NUL.
    ///
    /// - Parameter range: Where to look; what lies outside the span is not looked at.
    /// - Returns: The offset of the first one, or nil.
    func firstOffsetOfLineByte(in range: Range<Int>) -> Int? {
        let range = range.clamped(to: 0..<count)
        return unsafe withUnsafeBytes { bytes -> Int? in
            var index = range.lowerBound
            // Each read is of 8 bytes, and within `range`.
            while index + 8 <= range.upperBound {
                let word = UInt64(littleEndian: unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                let feeds = (word ^ 0x0A0A_0A0A_0A0A_0A0A).zeroBytes
                let returns = (word ^ 0x0D0D_0D0D_0D0D_0D0D).zeroBytes
                let found = feeds | returns | word.zeroBytes
                if found != 0 { return index + found.trailingZeroBitCount / 8 }
                index += 8
            }
            return (index..<range.upperBound).first { unsafe [0x0A, 0x0D, 0].contains(bytes[$0]) }
        }
    }
}

extension UInt64 {
    /// The upper bit of each byte that is zero; what lies above the lowest of them may be wrong.
    fileprivate var zeroBytes: UInt64 { (self &- 0x0101_0101_0101_0101) & ~self & 0x8080_8080_8080_8080 }
}

extension ContiguousArray<UInt8> {
    /// Appends some bytes of a span; what lies outside the span is left out.
    mutating func append(copying bytes: Span<UInt8>, _ range: Range<Int>) {
        let range = range.clamped(to: 0..<bytes.count)
        unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// Becomes a copy of some bytes of a span, in the same memory if there is room; what lies outside the span is left out.
    mutating func replaceAll(copying bytes: Span<UInt8>, _ range: Range<Int>) {
        let range = range.clamped(to: 0..<bytes.count)
        guard count == range.count else {
            removeAll(keepingCapacity: true)
            return append(copying: bytes, range)
        }
        // As many as there were, as in the headers of parts that differ in little: nothing need be emptied first.
        unsafe bytes.withUnsafeBytes { source in
            unsafe withUnsafeMutableBytes { unsafe $0.copyMemory(from: .init(rebasing: source[range])) }
        }
    }
}
