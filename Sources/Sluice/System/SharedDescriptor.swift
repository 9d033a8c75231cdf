/// A descriptor that many may hold, closed with the last of them if it is owned.
final class SharedDescriptor: Sendable {
    let rawValue: Int32
    /// Taken by whoever reads it as a stream: what a pipe or socket gave is gone, whichever body it was read for.
    let stream = OnceOnly(())
    private let ownership: FileSource.Ownership

    init(_ rawValue: Int32, _ ownership: FileSource.Ownership) {
        self.rawValue = rawValue
        self.ownership = ownership
    }

    deinit {
        if ownership == .owned { SystemCalls.close(rawValue) }
    }
}
