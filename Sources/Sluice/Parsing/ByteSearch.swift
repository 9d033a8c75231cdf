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
}

extension ContiguousArray<UInt8> {
    /// A copy of some bytes of a span; what lies outside the span is left out.
    init(copying bytes: Span<UInt8>, _ range: Range<Int>) {
        let range = range.clamped(to: 0..<bytes.count)
        // As one copy: an array made of a slice goes through the slice's iterator.
        self = unsafe bytes.withUnsafeBytes { unsafe ContiguousArray(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }
}
