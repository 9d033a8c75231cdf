/// Decompresses chunk by chunk, and counts.
package struct GunzipState {
    private let limits: GunzipLimits
    private var inflater: Inflater?
    private var input: (bytes: HeldBytes, offset: Int)?
    private var consumed: Int64 = 0
    private var produced: Int64 = 0
    /// Whether the last member is complete; nil before the first.
    private var isComplete: Bool?
    private var failure: MultipartError?

    private static let chunkSize = 64 << 10
    private static let smallestRoom = 4 << 10

    package init(_ limits: GunzipLimits) {
        self.limits = limits
    }

    /// Gives the next compressed bytes, when ``next()`` has no more of those before.
    package mutating func feed(_ bytes: HeldBytes) {
        input = (bytes, 0)
    }

    /// The next decompressed bytes; nil where that needs more input.
    package mutating func next() throws(MultipartError) -> [UInt8]? {
        if let failure { throw failure }
        do throws(MultipartError) {
            while let (bytes, offset) = input {
                if offset == bytes.count {
                    input = nil
                    return nil
                }
                let output = try inflate(bytes, from: offset)
                if !output.isEmpty { return output }
            }
            return nil
        } catch {
            failure = error
            input = nil
            throw error
        }
    }

    /// Says that there is no more input.
    package func finish() throws(MultipartError) {
        guard isComplete == true else {
            throw MultipartError(.invalidGzip, "the gzip content is \(isComplete == nil ? "empty" : "cut off")")
        }
    }

    private mutating func inflate(_ bytes: HeldBytes, from offset: Int) throws(MultipartError) -> [UInt8] {
        let inflater: Inflater
        if let ready = self.inflater {
            inflater = ready
        } else {
            inflater = try Inflater()
            self.inflater = inflater
        }
        // One more than is allowed, to see that there is.
        let left = limits.bytes > produced ? limits.bytes - produced : 0
        // What comes in drops comes out in small pieces: whoever keeps them does not keep 64 KiB for each byte.
        let wanted = Swift.max(Swift.min(bytes.count - offset, Self.chunkSize) * 4, Self.smallestRoom)
        let room = Int(Swift.min(Int64(Swift.min(wanted, Self.chunkSize)), left == .max ? left : left + 1))
        var result: Result<Inflater.Step, MultipartError>?
        let output = unsafe [UInt8](unsafeUninitializedCapacity: room) { output, count in
            unsafe bytes.withBytes { bytes in
                do throws(MultipartError) {
                    let step = try unsafe inflater.inflate(
                        UnsafeRawBufferPointer(rebasing: bytes[offset...]),
                        into: UnsafeMutableRawBufferPointer(output)
                    )
                    count = step.produced
                    result = .success(step)
                } catch {
                    result = .failure(error)
                }
            }
        }
        guard let step = try result?.get() else { return [] }
        consumed += Int64(step.consumed)
        produced += Int64(step.produced)
        isComplete = step.isMemberEnd
        input = (bytes, offset + step.consumed)
        if produced > limits.bytes {
            throw MultipartError(.inflatedTooLarge, "the decompressed content has more than \(limits.bytes) bytes")
        }
        let (most, isEndless) = consumed.multipliedReportingOverflow(by: max(limits.ratio, 1))
        if !isEndless, produced - Int64(Self.chunkSize) > most {
            throw MultipartError(
                .inflatedTooMuch,
                "the content decompresses to more than \(limits.ratio) times its size"
            )
        }
        return output
    }
}
