internal import Synchronization

/// Something that is done by whoever comes first, and by nobody else.
final class Once: Sendable {
    private let work: Mutex<(@Sendable () -> Void)?>

    init(_ work: @escaping @Sendable () -> Void) {
        self.work = Mutex(work)
    }

    func run() {
        let work = work.withLock { $0.take() }
        work?()
    }
}
