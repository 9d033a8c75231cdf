internal import Synchronization

/// A descriptor that many may hold, closed with the last of them if it is owned.
final class SharedDescriptor: Sendable {
    let rawValue: Int32
    private let ownership: FileSource.Ownership
    private let isTaken = Atomic(false)

    init(_ rawValue: Int32, _ ownership: FileSource.Ownership) {
        self.rawValue = rawValue
        self.ownership = ownership
    }

    /// Whether nobody has read it as a stream before: what a pipe or socket gave is gone, whichever body it was for.
    func takeStream() -> Bool {
        !isTaken.exchange(true, ordering: .relaxed)
    }

    deinit {
        if ownership == .owned { SystemCalls.close(rawValue) }
    }
}
