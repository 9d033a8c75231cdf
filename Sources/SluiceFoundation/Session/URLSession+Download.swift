public import Foundation
public import Sluice

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension URLSession {
    /// Downloads to a file, which is replaced in one step when all is there.
    ///
    /// ```swift
    /// for try await event in session.download(for: URLRequest(url: url), to: file) {
    ///     switch event {
    ///     case .progress(let progress): print(progress.fractionCompleted ?? 0)
    ///     case .completed(let file): print("in place:", file.path)
    ///     case .failed(let error): print(error)
    ///     }
    /// }
    /// ```
    ///
    /// The bytes go to a hidden file beside the target as they come, chunk by chunk, and that is renamed before
    /// `completed` is sent: there is no temporary file that has to be rescued from a callback, and until then, and after
    /// any failure, the old file is as it was. A download that is shorter than its Content-Length fails, and so does
    /// every status but 200 to 299: an error's page is never the file; ``SessionError/response`` has it. The file is not
    /// synchronised with the disk.
    ///
    /// The new file has the permissions of the one that it replaces, which has to be a file that may be written to; where
    /// it is a symbolic link, the file that it leads to is replaced.
    ///
    /// The transfer begins at once. It ends, and what was written is removed, when the task that iterates is cancelled or
    /// the stream is let go of.
    ///
    /// - Parameters:
    ///   - request: What to download.
    ///   - file: A `file:` URL, in a directory that exists. The directory has to be writable.
    ///   - options: Redirects and limits.
    /// - Returns: The progress, then `completed`, then the end; or `failed` and then, thrown, the same
    ///   ``SessionError``. What waits to be asked for is one event.
    public func download(
        for request: URLRequest,
        to file: URL,
        options: SessionOptions = .init()
    ) -> AsyncThrowingStream<SessionDownloadEvent, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let task = Task {
                let meter = ProgressMeter { continuation.yield(.progress($0)) }
                let result = await download(request, to: file, options: options, meter: meter)
                switch result {
                case .success:
                    meter.finish(completed: true)
                    continuation.yield(.completed(file))
                    continuation.finish()
                case .failure(let error):
                    meter.finish(completed: false)
                    continuation.yield(.failed(error))
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// Downloads what is known to be small into memory, chunk by chunk.
    ///
    /// - Parameters:
    ///   - request: What to download.
    ///   - limit: The most bytes to collect.
    ///   - options: Redirects and limits.
    ///   - progress: Called with the progress at most ten times a second, and at the end, one call at a time.
    /// - Returns: The server's final answer, whatever its status is.
    /// - Throws: ``SessionError`` with the code ``SessionError/Code/responseTooLarge`` for a longer one, at once where the
    ///   server says its length, ``SessionError/Code/truncated`` for one that is shorter than it should be; and what else
    ///   goes wrong.
    public func collect(
        _ request: URLRequest,
        upTo limit: Int,
        options: SessionOptions = .init(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(SessionError) -> SessionResponse {
        let reports = progress.map { Reports($0) }
        let meter = reports.map { ProgressMeter(handler: $0.report) }
        let transfer = SessionTransfer(request, in: self, options: options, meter: meter) { _ in
            .memory(Data(), limit: limit, dropsRest: false)
        }
        let result = await transfer.run()
        meter?.finish(completed: (try? result.get()) != nil)
        await reports?.finish()
        return try result.get()
    }

    private func download(
        _ request: URLRequest,
        to url: URL,
        options: SessionOptions,
        meter: ProgressMeter
    ) async -> Result<SessionResponse, SessionError> {
        let file: DownloadFile
        do {
            // Before anybody is asked for anything: what cannot be saved need not be sent.
            file = try DownloadFile(url)
        } catch {
            return .failure(error)
        }
        let transfer = SessionTransfer(request, in: self, options: options, meter: meter) { head in
            200..<300 ~= head.status ? .file(file) : .memory(Data(), limit: 64 * 1024, dropsRest: true)
        }
        let result = await transfer.run()
        file.discard()
        return result.flatMap { response in
            if 200..<300 ~= response.status { return .success(response) }
            var error = SessionError(
                .unexpectedStatus,
                "the server answered \(response.status); nothing was saved",
                url: response.url
            )
            error.response = response
            return .failure(error)
        }
    }
}
