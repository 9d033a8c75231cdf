internal import Synchronization

/// A place for a value that one thread leaves and another one takes.
package final class Box<Value: Sendable>: Sendable {
    private let content = Mutex<Value?>(nil)

    package init() {}

    package var value: Value? {
        get { content.withLock { $0 } }
        set { content.withLock { $0 = newValue } }
    }
}
