/// Tells from samples whether deflating a block would save anything worth its time.
///
/// Media, archives and ciphertext cannot be compressed, which deflate finds out at a tenth of the speed at which they
/// could be copied. Two things make bytes compressible: some values occur more often than others, or runs of bytes
/// occur again. Both are measured on samples all over the block, at some fiftieth of deflate's cost; the answer depends
/// on the block and the 32 KiB before it alone.
///
/// Used by one thread at a time.
// @safe: the pointers are allocated in `init`, freed in `deinit`, and never leave the class.
@safe
final class CompressionEstimate {
    /// Shorter blocks are worth a try at once.
    private static let shortest = 16 * 1024
    /// A sample of contiguous bytes is taken of each so many, so that no period of the data hides from it.
    private static let chunkSize = 4096
    private static let sampleSize = 512

    /// By value, how often it occurred in this sample, and in all.
    private let sampleCounts: UnsafeMutablePointer<UInt32>
    private let counts: UnsafeMutablePointer<UInt32>
    /// By hash, where four bytes were seen last, from 1.
    private let places: UnsafeMutablePointer<UInt32>

    private static let hashBits = 14

    init() {
        unsafe sampleCounts = .allocate(capacity: 256)
        unsafe counts = .allocate(capacity: 256)
        unsafe places = .allocate(capacity: 1 << Self.hashBits)
    }

    deinit {
        unsafe sampleCounts.deallocate()
        unsafe counts.deallocate()
        unsafe places.deallocate()
    }

    /// Whether deflating is expected to save one percent or more.
    ///
    /// - Parameters:
    ///   - bytes: The bytes before the block, and the block behind them.
    ///   - start: Where the block starts.
    /// - Returns: Whether to try; what then comes of it may still be more than the block itself.
    func isWorthDeflating(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Bool {
        guard bytes.count - start >= Self.shortest else { return true }
        return unsafe hasFrequentValues(bytes, from: start) || hasRepeatedRuns(bytes, from: start)
    }

    // MARK: Values

    /// Looks at how many pairs of equal bytes there are, in each sample and in all of them.
    ///
    /// Of random bytes it is one pair in 256, give or take little even for short samples; the excess tells what the
    /// best code would save (a measure known as collision entropy).
    private func hasFrequentValues(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Bool {
        unsafe counts.update(repeating: 0, count: 256)
        let chunks = (bytes.count - start) / Self.chunkSize
        let expected = Self.pairs(Self.sampleSize) / 256
        var excess = 0
        for chunk in 0..<chunks {
            unsafe sampleCounts.update(repeating: 0, count: 256)
            // From another place in each chunk, lest the heads of pages are all that is seen.
            let first = start + chunk * Self.chunkSize + chunk * 1021 % (Self.chunkSize - Self.sampleSize)
            var pairs = 0
            for index in first..<first + Self.sampleSize {
                let value = unsafe Int(bytes[index])
                pairs += unsafe Int(sampleCounts[value])
                unsafe sampleCounts[value] += 1
                unsafe counts[value] += 1
            }
            // More than five standard deviations: by chance in one of some million samples.
            if pairs > expected * 5 / 4 { excess += 1024 - 1024 * expected / pairs }
            // As if three percent of the chunks were of one value only; text takes twice as many, or six percent.
            if excess * 100 > 3 * 1024 * chunks { return true }
        }
        let pairs = (0..<256).reduce(0) { unsafe $0 + Self.pairs(Int(counts[$1])) }
        // An eighth more pairs than by chance is a saving of some one percent.
        return pairs > Self.pairs(chunks * Self.sampleSize) / 256 * 9 / 8
    }

    private static func pairs(_ count: Int) -> Int { count * (count - 1) / 2 }

    // MARK: Runs

    /// One run is looked for in each so many bytes.
    private static let windowDistance = 512
    /// The places that are remembered, and the ones that are looked up in a window, so that one of them must fit.
    private static let step = 8
    /// How far back zlib looks.
    private static let farthest = DeflateFormat.windowSize - 262

    /// Looks at whether what stands at places all over the block occurred before.
    ///
    /// Runs of eleven bytes and more are found where they are looked for, and of four where they lie as those before.
    /// Four random bytes that occur again by chance are too rare to count.
    private func hasRepeatedRuns(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Bool {
        unsafe places.update(repeating: 0, count: 1 << Self.hashBits)
        var remembered = 0
        var windows = 0
        var found = 0
        for window in stride(from: start, to: bytes.count - 2 * Self.step, by: Self.windowDistance) {
            while remembered < window {
                let word = unsafe bytes.loadUnaligned(fromByteOffset: remembered, as: UInt32.self)
                unsafe places[Self.hash(word)] = UInt32(remembered + 1)
                remembered += Self.step
            }
            windows += 1
            for place in window..<window + Self.step {
                let word = unsafe bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
                let candidate = unsafe Int(places[Self.hash(word)]) - 1
                if candidate >= 0, place - candidate <= Self.farthest,
                    unsafe bytes.loadUnaligned(fromByteOffset: candidate, as: UInt32.self) == word
                {
                    found += 1
                    break
                }
            }
        }
        return found * 64 > windows
    }

    private static func hash(_ word: UInt32) -> Int {
        Int((word.littleEndian &* 0x9E37_79B1) >> (32 - UInt32(hashBits)))
    }
}
