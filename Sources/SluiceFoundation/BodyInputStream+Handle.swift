public import Sluice

extension BodyInputStream {
    /// A hold on a stream from any thread: closes it, and knows its error.
    ///
    /// It stays good after the stream itself was released, as `URLSession` does when a task is over, and keeps neither the
    /// stream nor its files open.
    public struct Handle: Sendable {
        private let core: StreamCore

        init(_ core: StreamCore) {
            self.core = core
        }

        /// Closes the stream, which ends an upload that reads from it.
        ///
        /// Later calls do nothing. It returns at once. A read that waits on another thread for a pipe or an async sequence ends and gives
        /// -1, and what it had open is closed then; only a generator or source of your own that blocks inside its own
        /// code is waited for. Unless the end was reached, ``error`` is `cancelled` from the next read on.
        public func close() {
            core.close()
        }

        /// What went wrong, with the part and the path; nil where nothing did.
        public var error: MultipartError? { core.error }

        /// Whether all of the body was handed over.
        public var isAtEnd: Bool { !core.hasBytesAvailable }

        /// The offset in the body of the next byte, from 0: how much was handed over.
        public var position: Int64 { core.position }
    }
}
