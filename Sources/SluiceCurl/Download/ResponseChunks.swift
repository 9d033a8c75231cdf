/// A server's answer whose body is still to come.
public struct StreamedResponse: Sendable {
    /// The answer but for its body, which is empty here.
    public let head: CurlResponse
    /// The body.
    public let chunks: ResponseChunks

    /// The bytes that the body has, where the server says so.
    public var contentLength: Int64? { head.bodyLength }
}

/// The body of an answer in chunks, as they come.
///
/// The transfer waits while nobody asks for a chunk, with a bounded number of bytes on the way. It can be iterated over
/// once: it ends with the iteration, at the body's end or where the iteration is broken off, and also with the last copy
/// of this value if nobody iterates.
public struct ResponseChunks: AsyncSequence, Sendable {
    /// The bytes of a chunk, never none.
    public typealias Element = [UInt8]
    /// Why the body breaks off.
    public typealias Failure = TransferError

    private let lease: ChunkLease

    init(_ lease: ChunkLease) {
        self.lease = lease
    }

    /// Makes an iterator, which takes what no other one has taken.
    public func makeAsyncIterator() -> Iterator { Iterator(end: IterationEnd(lease)) }

    /// Iterates over the body.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let end: IterationEnd

        /// The next bytes, waited for.
        ///
        /// - Parameter actor: The caller's actor.
        /// - Returns: All bytes that have come, or nil behind the last ones.
        /// - Throws: ``TransferError`` where the body breaks off, or the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(TransferError) -> [UInt8]? {
            try await end.lease.next()
        }
    }

    /// Ends the transfer with the iteration.
    fileprivate final class IterationEnd: Sendable {
        let lease: ChunkLease

        init(_ lease: ChunkLease) {
            self.lease = lease
        }

        deinit {
            lease.cancel()
        }
    }
}

/// A transfer whose bytes a task takes, and which ends with whoever could take them.
final class ChunkLease: Sendable {
    private let client: CurlClient
    private let ticket: TransferTicket
    private let channel: ChunkChannel

    /// Begins the transfer, whose ticket feeds the channel and must not keep this object alive.
    init(_ client: CurlClient, _ ticket: TransferTicket, _ channel: ChunkChannel) {
        self.client = client
        self.ticket = ticket
        self.channel = channel
        client.begin(ticket)
    }

    deinit {
        cancel()
    }

    func cancel() {
        client.cancel(ticket)
    }

    /// The answer's head, waited for.
    func head() async throws(TransferError) -> CurlResponse {
        let result = await withTaskCancellationHandler {
            await channel.head()
        } onCancel: {
            cancel()
        }
        return try result.get()
    }

    /// The next bytes, waited for.
    func next() async throws(TransferError) -> [UInt8]? {
        let result = await withTaskCancellationHandler {
            await channel.next()
        } onCancel: {
            cancel()
        }
        return try result.get()
    }
}
