public import Sluice

extension CurlClient {
    /// Receives an answer into memory.
    ///
    /// - Parameters:
    ///   - request: The URL, header fields and options; the method is `GET`, or `HEAD` for an answer without a body.
    ///   - progress: Called with the progress at first, at most ten times a second, and at the end, on the client's
    ///     thread; it should return soon.
    /// - Returns: The server's final answer, whatever its status is, with its body.
    /// - Throws: ``TransferError`` where there is no answer, or one that is longer than
    ///   ``CurlRequest/responseBodyLimit``. A status of 400 and above is not an error.
    public func download(
        _ request: CurlRequest,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(TransferError) -> CurlResponse {
        try await complete(.memory, request, progress.map { ProgressMeter(handler: $0) }).response
    }

    /// Receives an answer in chunks, at the pace at which they are taken.
    ///
    /// Where ``CurlRequest/retry`` allows it, a connection that is lost in the middle is followed by a request for the rest, if
    /// the server says what version it sends (a strong `ETag`, or a `Last-Modified` that is old enough) and still has it.
    ///
    /// - Parameters:
    ///   - request: The URL, header fields and options; the method is `GET`.
    ///   - bufferSize: The most bytes that wait to be taken. libcurl holds back up to 256 KiB more.
    ///   - progress: Called with the progress at first, at most ten times a second, and at the end, on the client's
    ///     thread; it should return soon.
    /// - Returns: The answer's head, when it is there, and the chunks that follow. The transfer ends with the iteration
    ///   over them.
    /// - Throws: ``TransferError`` where there is no answer. A status of 400 and above is not an error.
    public func downloadChunks(
        _ request: CurlRequest,
        bufferSize: Int = 512 * 1024,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(TransferError) -> StreamedResponse {
        let channel = ChunkChannel(capacity: bufferSize)
        let meter = progress.map { ProgressMeter(handler: $0) }
        let ticket = TransferTicket(.chunks(channel), request, meter: meter) { outcome in
            channel.finish(outcome.map { _ in })
        }
        let lease = ChunkLease(self, ticket, channel)
        return StreamedResponse(head: try await lease.head(), chunks: ResponseChunks(lease))
    }

    /// Receives an answer into a file.
    ///
    /// The file is written beside its place, with `.sluice-part` behind its name, and takes it once it is whole and checked:
    /// until then, and for good where the download fails, what was there is untouched. A download that breaks off is gone on
    /// with by the next one to the same path from the same URL, if the server says that it still has the same version
    /// (`Range` and `If-Range`, RFC 9110 section 14); else that begins anew. See ``FileDownloadOptions`` for more.
    ///
    /// - Parameters:
    ///   - request: The URL, header fields and options; the method is `GET`.
    ///   - path: The file. Where it is a symbolic link, what it leads to is replaced. A new file gets the mode that
    ///     any new file gets; one that is replaced keeps its mode.
    ///   - options: What is asked of the file.
    ///   - progress: Called with the progress at first, at most ten times a second, and at the end, on the client's
    ///     thread; it should return soon.
    /// - Returns: What is in the file's place now.
    /// - Throws: ``TransferError``, with ``TransferError/Code/unexpectedStatus`` for an answer that is not the file.
    public func download(
        _ request: CurlRequest,
        toFile path: String,
        options: FileDownloadOptions = .init(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(TransferError) -> DownloadedFile {
        let completion = try await complete(.file(path, options), request, progress.map { ProgressMeter(handler: $0) })
        guard let file = completion.file else { throw TransferError(.other, "the download came to no file") }
        return file
    }

    /// Receives an answer into a file, and tells what happens meanwhile.
    ///
    /// The download begins when the first event is asked for, and ends with the iteration; it is like
    /// ``download(_:toFile:options:progress:)`` in all else.
    ///
    /// - Parameters:
    ///   - request: The URL, header fields and options; the method is `GET`.
    ///   - path: The file.
    ///   - options: What is asked of the file.
    /// - Returns: The download's events: progress, retries, and at last whether the file is there.
    public func downloadEvents(
        _ request: CurlRequest,
        toFile path: String,
        options: FileDownloadOptions = .init()
    ) -> DownloadEvents {
        DownloadEvents(client: self, request: request, path: path, options: options)
    }
}
