import SluiceFoundation
import Synchronization

/// Something that happens once.
final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .acquiring) }

    func set() { value.store(true, ordering: .releasing) }
}

/// The streams that were asked for during an upload.
final class Streams: Sendable {
    private let handles = Mutex<[BodyInputStream.Handle]>([])

    var all: [BodyInputStream.Handle] { handles.withLock { $0 } }

    func append(_ handle: BodyInputStream.Handle) {
        handles.withLock { $0.append(handle) }
    }
}
