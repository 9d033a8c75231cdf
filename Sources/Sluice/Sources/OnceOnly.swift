internal import Synchronization

/// A value that can be taken out once.
final class OnceOnly<Value>: Sendable {
    private let value: Mutex<Value?>

    init(_ value: sending Value) {
        self.value = Mutex(value)
    }

    func take() throws(MultipartError) -> sending Value {
        let taken = value.withLock { value in
            let taken = value
            value = nil
            return taken
        }
        guard let taken else {
            throw MultipartError(
                .notReplayable,
                "this source can be read only once and was read before; give a factory to make it restartable"
            )
        }
        return taken
    }
}
