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
    /// The stream holds one report: a slow consumer misses reports, never the newest. It ends when the transfer lets go
    /// of `report`, whether it succeeded or not.
    ///
    /// - Returns: The stream, and the function to give to the transfer as its progress handler. Do not keep the
    ///   function longer than the transfer, or the stream does not end.
    public static func makeStream() -> (
        updates: AsyncStream<TransferProgress>,
        report: @Sendable (TransferProgress) -> Void
    ) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: TransferProgress.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let end = StreamEnd(continuation)
        return (stream, { end.continuation.yield($0) })
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
