public import Sluice

extension MultipartBody {
    /// The body as an `InputStream`, for `URLSession` and whatever else takes one.
    ///
    /// Each call makes a stream of its own that begins anew; give a fresh one to every `needNewBodyStream`.
    ///
    /// ```swift
    /// let stream = body.makeInputStream()
    /// stream.open()
    /// let count = stream.read(buffer, maxLength: 256 * 1024)
    /// ```
    ///
    /// - Parameters:
    ///   - offset: The offset in this body at which to start, in bytes. One that the body does not have is an error of
    ///     `open()`.
    ///   - progress: Called with the progress at most ten times a second, and at the end, on the thread that reads.
    /// - Returns: A stream that is not open yet. It opens files when it comes to them, one at a time.
    public func makeInputStream(
        startingAt offset: Int64 = 0,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) -> BodyInputStream {
        let meter = progress.map { ProgressMeter(self, handler: $0) }
        return BodyInputStream(StreamCore(self, startingAt: offset, meter: meter))
    }
}
