/// A descriptor that becomes readable for good when an interrupt is triggered, for use with `poll`.
final class WakeDescriptor: Sendable {
    private let descriptors: Descriptors
    private let interrupt: ReadInterrupt
    private let handler: Int

    init(_ interrupt: ReadInterrupt) throws(MultipartError) {
        let descriptors = try Descriptors()
        self.descriptors = descriptors
        self.interrupt = interrupt
        handler = interrupt.onTrigger { descriptors.signal() }
    }

    deinit {
        interrupt.removeHandler(handler)
    }

    /// What to poll.
    var descriptor: Int32 { descriptors.readEnd.rawValue }

    /// Kept by the interrupt's handler as well, so that a late signal meets no descriptor of somebody else's.
    private struct Descriptors: Sendable {
        let readEnd: SharedDescriptor
        let writeEnd: SharedDescriptor

        init() throws(MultipartError) {
            do {
                (readEnd, writeEnd) = try SystemCalls.makeWakeDescriptors()
            } catch {
                throw MultipartError(.resourcesExhausted, "no descriptor for waiting", error)
            }
        }

        func signal() {
            var one: UInt64 = 1
            unsafe withUnsafeBytes(of: &one) { bytes in
                _ = unsafe try? SystemCalls.write(writeEnd.rawValue, bytes)
            }
        }
    }
}
