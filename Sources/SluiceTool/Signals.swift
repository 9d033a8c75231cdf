internal import CSluiceTool
import Sluice
internal import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Ends the tool on SIGINT, SIGTERM and SIGHUP as the shell expects it: cleaned up, and by that very signal.
///
/// The signals are blocked everywhere and awaited by the main thread, which has nothing else to do, so that what they
/// set off is ordinary code and not a signal handler. An async `main` would not do: on Linux its main thread sleeps
/// with no signal blocked.
enum Signals {
    private struct State {
        var received: Int32?
        var cancel: (@Sendable () -> Void)?
    }

    private static let state = Mutex(State())
    /// How long a cancelled transfer has before the process ends all the same.
    private static let grace: UInt32 = 2

    /// Blocks the signals, in this thread and in those that it makes from now on.
    static func block() {
        let numbers = ending
        unsafe sluice_block_signals(numbers, Int32(numbers.count))
    }

    /// Sets what a signal cancels.
    ///
    /// Without it the process ends at once.
    ///
    /// - Parameter cancel: Makes the command end soon; nil where nothing is left to cancel.
    static func onSignal(_ cancel: (@Sendable () -> Void)?) {
        let isLate = state.withLock { state in
            state.cancel = cancel
            return state.received != nil
        }
        if isLate { cancel?() }
    }

    /// Ends the process if a signal has come meanwhile.
    ///
    /// Commands end through here.
    static func endIfReceived() {
        if let received = state.withLock({ $0.received }) { end(by: received) }
    }

    /// Ends the process the way a signal does that nobody takes, after cleaning up.
    static func end(by number: Int32) -> Never {
        Cleanup.runAll()
        signal(number, SIG_DFL)
        sluice_unblock_signal(number)
        raise(number)
        _exit(128 + number)
    }

    /// Ends the process as one whose output nobody reads: by SIGPIPE, unless the caller has the signal ignored.
    ///
    /// - Returns: Only where SIGPIPE is ignored; the error is then to be reported like any other.
    static func endByBrokenPipe() {
        if isIgnored(SIGPIPE) { return }
        end(by: SIGPIPE)
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        sluice_signal_is_ignored(number) == 1
    }

    /// The signals that end the tool.
    ///
    /// Those that the caller has ignored stay so, which is how shells keep Ctrl-C from what runs in the background. To
    /// be blocked would make them heard.
    private static var ending: [Int32] { [SIGINT, SIGTERM, SIGHUP].filter { !isIgnored($0) } }

    /// Takes the signals, for as long as the process lives.
    static func waitForever() -> Never {
        let numbers = ending
        while true {
            let number = unsafe sluice_wait_for_signal(numbers, Int32(numbers.count))
            let (isFirst, cancel) = state.withLock { state in
                defer { state.received = state.received ?? number }
                return (state.received == nil, state.cancel)
            }
            // A second signal means it.
            guard isFirst, let cancel else { end(by: number) }
            cancel()
            _ = try? WorkerThread.start("deadline") {
                sleep(grace)
                end(by: number)
            }
        }
    }
}
