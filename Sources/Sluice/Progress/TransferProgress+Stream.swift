extension TransferProgress {
    /// Progress as an async stream, for a consumer that only wants to know the newest state.
    ///
    /// ```swift
    /// let (updates, report) = TransferProgress.makeStream()
    /// async let response = client.upload(body, to: url, progress: report)
    /// for await progress in updates { print(progress.fractionCompleted ?? 0) }
    /// try await print(response.status)
    /// ```
    ///
    /// The stream holds one report: a slow consumer misses reports, never the newest. It ends with the transfer's last
    /// report, which comes whether it succeeded or not, or when nobody has `report` any more.
    ///
    /// - Returns: The stream, and the function to give to one transfer as its progress handler.
    public static func makeStream() -> (
        updates: AsyncStream<TransferProgress>,
        report: @Sendable (TransferProgress) -> Void
    ) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: TransferProgress.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let end = StreamEnd(continuation)
        return (
            stream,
            { progress in
                end.continuation.yield(progress)
                if progress.isLast { end.continuation.finish() }
            }
        )
    }

    /// Ends the stream with the last reference to the function that feeds it.
    private final class StreamEnd: Sendable {
        let continuation: AsyncStream<TransferProgress>.Continuation

        init(_ continuation: AsyncStream<TransferProgress>.Continuation) {
            self.continuation = continuation
        }

        deinit {
            continuation.finish()
        }
    }
}
