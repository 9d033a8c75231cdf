#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The low-water mark of a socket that is read: how many bytes must have come before whoever waits for it is woken.
///
/// A thread that is woken for every few bytes of a fast sender spends a fifth of its time falling asleep and waking up.
/// The mark is raised only where bytes come fast, so that nobody waits for the last bytes of a slow sender.
struct LowWaterMark {
    /// Most of what a connection's buffer holds: the rest of it may be taken by bytes that did not fill a block.
    static let raised = 384 * 1024
    /// How long that many bytes may take to come: over slower connections there is nothing to be gained.
    private static let patience: Int32 = 10

    private let socket: Int32
    private var mark: Int32 = 1

    init(_ socket: Int32) {
        self.socket = socket
    }

    /// Waits for many bytes where they come fast, but never longer than for a moment.
    ///
    /// - Parameters:
    ///   - count: The bytes that came last.
    ///   - remaining: The bytes that are still to come, not all of which need be with the kernel.
    /// - Returns: Whether they have come; where they come slowly, nobody waited or will.
    mutating func wait(after count: Int, of remaining: Int64) -> Bool {
        // Near the end, so many need not come any more.
        guard count >= Self.raised / 4, remaining >= 4 * Int64(Self.raised), set(Int32(Self.raised)) else {
            lower()
            return false
        }
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        if unsafe poll(&entry, 1, Self.patience) > 0 { return true }
        lower()
        return false
    }

    /// Has every byte told at once again.
    mutating func lower() { _ = set(1) }

    private mutating func set(_ value: Int32) -> Bool {
        guard value != mark else { return true }
        var option = value
        guard unsafe setsockopt(socket, SOL_SOCKET, SO_RCVLOWAT, &option, socklen_t(MemoryLayout<Int32>.size)) == 0
        else { return false }
        mark = value
        return true
    }
}
