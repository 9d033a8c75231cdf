internal import Synchronization

/// An async sequence of chunks that counts what is asked of it, and knows when it was let go.
package final class Upstream: Sendable {
    /// What comes behind the chunks.
    package enum End: Sendable {
        case finish
        case fail(any Error)
        /// Nothing comes any more, until the task is cancelled.
        case wait
    }

    private struct State {
        var asked = 0
        var cancelled = 0
        var started = 0
        var released = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// How often a chunk was asked for.
    package var asked: Int { state.withLock { $0.asked } }
    /// How often a wait was cancelled.
    package var cancelled: Int { state.withLock { $0.cancelled } }
    /// How often the sequence was begun.
    package var started: Int { state.withLock { $0.started } }
    /// How many of its iterators are gone.
    package var released: Int { state.withLock { $0.released } }

    /// A sequence of these chunks.
    ///
    /// - Parameters:
    ///   - chunks: The chunks, empty ones too.
    ///   - end: What comes behind them.
    ///   - onAsk: Called with the number of the chunk that is asked for, from 1.
    /// - Returns: The sequence, which may be begun more than once.
    package func chunks(
        _ chunks: [[UInt8]],
        then end: End = .finish,
        onAsk: @escaping @Sendable (Int) -> Void = { _ in }
    ) -> Chunks {
        Chunks(upstream: self, chunks: chunks, end: end, onAsk: onAsk)
    }

    package struct Chunks: AsyncSequence, Sendable {
        fileprivate let upstream: Upstream
        fileprivate let chunks: [[UInt8]]
        fileprivate let end: End
        fileprivate let onAsk: @Sendable (Int) -> Void

        package func makeAsyncIterator() -> Iterator {
            upstream.state.withLock { $0.started += 1 }
            return Iterator(chunks: self)
        }
    }

    package final class Iterator: AsyncIteratorProtocol {
        private let chunks: Chunks
        private var next = 0

        fileprivate init(chunks: Chunks) {
            self.chunks = chunks
        }

        deinit {
            chunks.upstream.state.withLock { $0.released += 1 }
        }

        package func next() async throws -> [UInt8]? {
            chunks.upstream.state.withLock { $0.asked += 1 }
            next += 1
            chunks.onAsk(next)
            if next <= chunks.chunks.count { return chunks.chunks[next - 1] }
            switch chunks.end {
            case .finish: return nil
            case .fail(let error): throw error
            case .wait:
                do {
                    while true { try await Task.sleep(for: .seconds(3600)) }
                } catch {
                    chunks.upstream.state.withLock { $0.cancelled += 1 }
                    throw error
                }
            }
        }
    }
}
