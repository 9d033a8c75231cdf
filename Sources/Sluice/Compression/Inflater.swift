internal import CZlib

/// zlib's decompressor for gzip members (RFC 1952), which checks their checksum and length.
///
/// It takes 40 KiB of memory, and is used by one thread at a time.
// @safe: the pointer is allocated in `init`, freed in `deinit`, and never leaves the class.
@safe
final class Inflater {
    /// What a call did.
    struct Step {
        let consumed: Int
        let produced: Int
        /// Whether the member ended with it; the next call begins another one.
        let isMemberEnd: Bool
    }

    // On the heap, because zlib refuses a structure that was moved.
    private let stream: UnsafeMutablePointer<z_stream>

    /// - Throws: ``MultipartError/Code/resourcesExhausted`` without memory.
    init() throws(MultipartError) {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard unsafe sluice_inflate_init(stream) == Z_OK else {
            unsafe stream.deallocate()
            throw MultipartError(.resourcesExhausted, "there is no memory for decompressing")
        }
        unsafe self.stream = unsafe stream
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Decompresses until the input is used up, the output is full, or a member ends.
    ///
    /// - Parameters:
    ///   - input: At least one byte, of which the first 2^30 are looked at.
    ///   - output: Where the bytes go, at least one.
    /// - Returns: What was done.
    /// - Throws: ``MultipartError/Code/invalidGzip`` for what is not gzip, or is damaged.
    func inflate(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(MultipartError) -> Step {
        let available = min(input.count, 1 << 30)
        let room = min(output.count, 1 << 30)
        unsafe stream.pointee.next_in = unsafe UnsafeMutablePointer(
            mutating: input.baseAddress?.assumingMemoryBound(to: Bytef.self)
        )
        unsafe stream.pointee.avail_in = uInt(available)
        unsafe stream.pointee.next_out = unsafe output.baseAddress?.assumingMemoryBound(to: Bytef.self)
        unsafe stream.pointee.avail_out = uInt(room)
        let status = unsafe CZlib.inflate(stream, Z_NO_FLUSH)
        let step = unsafe Step(
            consumed: available - Int(stream.pointee.avail_in),
            produced: room - Int(stream.pointee.avail_out),
            isMemberEnd: status == Z_STREAM_END
        )
        switch status {
        case Z_OK: return step
        // Nothing could be done, which with input and room there always can.
        case Z_BUF_ERROR where step.consumed + step.produced > 0: return step
        case Z_STREAM_END:
            unsafe inflateReset(stream)
            return step
        case Z_MEM_ERROR: throw MultipartError(.resourcesExhausted, "there is no memory for decompressing")
        default:
            let words = unsafe stream.pointee.msg.map { unsafe ": \(String(cString: $0))" } ?? ""
            throw MultipartError(.invalidGzip, "the content is not gzip, or is damaged\(words)")
        }
    }
}
