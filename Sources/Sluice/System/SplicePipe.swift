internal import CSluiceShims

#if os(Linux)
/// A pipe that pages of a file pass through on their way to a socket.
///
/// `sendfile` does the same with a pipe of its own of 64 KiB; one of 1 MiB takes a sixteenth of the calls into the
/// socket and measured 15 % faster on loopback.
final class SplicePipe {
    private let readEnd: SharedDescriptor
    private let writeEnd: SharedDescriptor
    /// The bytes that the pipe holds at most.
    let capacity: Int

    /// - Throws: `Errno` where the system has no pipe of this size to give: its limits are per user.
    init(capacity: Int = 1 << 20) throws(Errno) {
        (readEnd, writeEnd) = try SystemCalls.makePipe()
        self.capacity = try SystemCalls.setCapacity(ofPipe: writeEnd.rawValue, to: capacity)
    }

    /// Moves bytes of a file to a socket.
    ///
    /// - Returns: The number of bytes moved, 0 at the end of the file.
    /// - Throws: `Errno`; then the pipe may hold bytes, and is of no more use.
    func move(
        from source: Int32,
        at offset: inout Int64,
        to target: Int32,
        count: Int,
        waitingWith wait: () throws(Errno) -> Void
    ) throws(Errno) -> Int {
        var position = offset
        let taken = try SystemCalls.splice(
            from: source,
            at: &position,
            to: writeEnd.rawValue,
            count: min(count, capacity)
        )
        var rest = taken
        while rest > 0 {
            do {
                rest -= try SystemCalls.splice(fromPipe: readEnd.rawValue, to: target, count: rest)
            } catch {
                guard error == .wouldBlock else { throw error }
                try wait()
            }
        }
        offset = position
        return taken
    }
}
#endif
