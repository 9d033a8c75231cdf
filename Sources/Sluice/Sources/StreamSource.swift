/// A pipe, FIFO, socket, terminal or made-up file: bytes of unknown number, read until their end.
struct StreamSource: InterruptibleSource {
    private let origin: FileOrigin
    let path: String?
    let replay: Replay
    /// Taken by the first reading of a path; a descriptor keeps count itself, for all bodies that are made of it.
    private let pathTurn = OnceOnly(())

    init(origin: FileOrigin, path: String?, isRestartable: Bool) {
        self.origin = origin
        self.path = path
        replay = isRestartable ? .restartable : .once
    }

    var knownLength: Int64? { nil }

    func open(interrupt: ReadInterrupt?) throws(MultipartError) -> any ByteCursor {
        try StreamCursor(openDescriptor(), path: path, interrupt: interrupt)
    }

    private func takesTurn() -> Bool {
        switch origin {
        case .descriptor(let shared): shared.takeStream()
        case .path: (try? pathTurn.take()) != nil
        }
    }

    /// Opens the stream, which for one that cannot be read again works once.
    func openDescriptor() throws(MultipartError) -> SharedDescriptor {
        guard replay == .restartable || takesTurn() else {
            throw MultipartError(
                .notReplayable,
                "is a stream that was read already, and cannot be read again",
                path: path
            )
        }
        do {
            return try origin.open()
        } catch {
            throw MultipartError(.openFailed, "cannot be opened", path: path, error)
        }
    }
}

/// A source whose reads wait, and can be made to stop waiting.
protocol InterruptibleSource: ByteSource {
    func open(interrupt: ReadInterrupt?) throws(MultipartError) -> any ByteCursor
}

extension InterruptibleSource {
    func open(at offset: Int64) throws(MultipartError) -> any ByteCursor {
        try open(interrupt: nil)
    }
}

/// Reads a stream as its bytes come, waiting for both them and the interrupt.
final class StreamCursor: ByteCursor {
    let descriptor: SharedDescriptor
    private let path: String?
    private let wake: WakeDescriptor?

    init(_ descriptor: SharedDescriptor, path: String?, interrupt: ReadInterrupt?) throws(MultipartError) {
        self.descriptor = descriptor
        self.path = path
        wake = try interrupt.map { (interrupt) throws(MultipartError) in try WakeDescriptor(interrupt) }
    }

    func read(into buffer: inout OutputRawSpan) throws(MultipartError) {
        while true {
            try waitUntilReadable()
            do throws(Errno) {
                try unsafe buffer.withUnsafeMutableBytes { (bytes, initialized) throws(Errno) in
                    let target = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[initialized...])
                    initialized += unsafe try SystemCalls.read(descriptor.rawValue, into: target)
                }
                return
            } catch {
                // Another reader of the same pipe was faster.
                if error == .wouldBlock { continue }
                throw MultipartError(.readFailed, "reading failed", path: path, error)
            }
        }
    }

    /// Waits until there are bytes or the end, or throws where the interrupt comes first.
    func waitUntilReadable() throws(MultipartError) {
        let isReadable: Bool
        do {
            isReadable = try SystemCalls.waitUntilReadable(descriptor.rawValue, wake: wake)
        } catch {
            throw MultipartError(.readFailed, "waiting for bytes failed", path: path, error)
        }
        if !isReadable { throw .cancelledRead }
    }
}
