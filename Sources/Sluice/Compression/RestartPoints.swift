internal import Synchronization

/// Places at which compressing can begin anew: what came before is needed only for its last 32 KiB.
struct RestartPoint: Sendable, Equatable {
    /// The compressed bytes before it, the header included.
    var offset: Int64 = 0
    /// The bytes of the source before it, and their checksum.
    var sourceOffset: Int64 = 0
    var checksum = Checksum.ofNothing
}

/// The places that readers of a part came by, at most 1024 of them, evenly spread.
final class RestartPoints: Sendable {
    private struct State {
        var points: [RestartPoint] = []
        /// The least source bytes between two.
        var distance: Int64 = 0
    }

    private let state = Mutex(State())
    private static let limit = 1024

    /// Remembers a place, unless it lies before one that is known or close behind it.
    func add(_ point: RestartPoint) {
        state.withLock { state in
            let last = state.points.last?.sourceOffset ?? 0
            guard point.sourceOffset > last, point.sourceOffset - last >= state.distance else { return }
            state.points.append(point)
            guard state.points.count > Self.limit else { return }
            state.points = state.points.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
            state.distance = (state.points.last?.sourceOffset ?? 0) / Int64(Self.limit / 2)
        }
    }

    /// The last known place at or before an offset of the compressed bytes; the start where there is none.
    func last(before offset: Int64) -> RestartPoint {
        state.withLock { state in
            state.points.last { $0.offset <= offset } ?? RestartPoint()
        }
    }
}
