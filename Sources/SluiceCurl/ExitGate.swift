internal import Sluice
internal import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Keeps the threads of the loops away from libcurl while the process ends.
///
/// When a program returns from `main` or calls `exit`, what libcurl uses is taken down by handlers that know nothing of
/// other threads: one that still closes its connections then reads memory that was freed. So the threads end what they
/// are at, and go no further.
enum ExitGate {
    private struct State {
        var isClosed = false
        /// The loops whose threads may be within libcurl.
        var loops: [ObjectIdentifier: EventLoop] = [:]
    }

    private static let state = Mutex(State())

    /// How long the process waits for a thread that does not come to the gate, because a callback of the program's holds it.
    private static let mostWaits = 200
    private static let wait: UInt32 = 2500

    /// Has the gate closed when the process ends.
    ///
    /// Handlers run in the reverse order: what is to be in use until then must have registered its own before.
    static func closeAtExit() {
        _ = atexit { ExitGate.close() }
    }

    /// Says that a loop's thread begins.
    static func enter(_ loop: EventLoop) {
        pass()
        state.withLock { $0.loops[ObjectIdentifier(loop)] = loop }
    }

    /// Says that a loop's thread is done with libcurl.
    static func leave(_ loop: EventLoop) {
        state.withLock { _ = $0.loops.removeValue(forKey: ObjectIdentifier(loop)) }
    }

    /// Goes on, unless the process ends: then never.
    ///
    /// - Parameter loop: The loop whose thread asks, where it has entered.
    static func pass(_ loop: EventLoop? = nil) {
        guard state.withLock({ $0.isClosed }) else { return }
        if let loop { leave(loop) }
        while true { sleep(1000) }
    }

    private static func close() {
        let loops = state.withLock { state in
            state.isClosed = true
            return Array(state.loops.values)
        }
        for loop in loops { loop.wake() }
        for _ in 0..<mostWaits {
            if state.withLock({ $0.loops.isEmpty }) { return }
            usleep(wait)
        }
    }
}
