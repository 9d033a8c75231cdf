#if canImport(FoundationNetworking)
internal import Foundation

/// A delegate queue that runs what it is given at once, on the queue where `URLSession` works.
///
/// `URLSession` on Linux puts an operation into its delegate queue for every 16 KiB received and every 64 KiB sent, and
/// never waits for them: a delegate that is slower than the network has the whole download pile up in memory. Run where they are
/// made, they cost nothing to pass on, and the network waits for the delegate.
///
/// What runs here must neither take long nor call `URLSession`, most of whose methods wait for the very queue this is on.
// @unchecked Sendable: it adds no state to its superclass, which is Sendable.
final class DirectQueue: OperationQueue, @unchecked Sendable {
    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        block()
    }
}
#endif
