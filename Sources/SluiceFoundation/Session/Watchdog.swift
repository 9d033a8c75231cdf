internal import Foundation

/// Ends a transfer that takes too long in a way that `URLSession` does not notice.
///
/// On Linux `URLSession` has no limit for a whole transfer, and none of its timers runs while it waits for a body.
// @unchecked Sendable: the timer is set up in `init` and only cancelled afterwards, which any thread may do, and again.
final class Watchdog: @unchecked Sendable {
    private let timer: any DispatchSourceTimer

    /// Starts to watch.
    ///
    /// - Parameters:
    ///   - total: The longest for the whole transfer.
    ///   - idle: The longest wait for the body's source; nil where there is none to wait for.
    ///   - waited: How long it has been waited for.
    ///   - bark: Called with the reason, more than once where nobody stops it.
    init(
        total: Duration,
        idle: Duration?,
        waited: @escaping @Sendable () -> Duration?,
        bark: @escaping @Sendable (String) -> Void
    ) {
        timer = DispatchSource.makeTimerSource(queue: .global())
        let start = ContinuousClock.now
        let interval = max(min(total, idle.map { $0 / 8 } ?? total), .milliseconds(20)) / .seconds(1)
        timer.schedule(deadline: .now() + interval, repeating: interval, leeway: .milliseconds(10))
        timer.setEventHandler {
            if ContinuousClock.now - start >= total {
                bark("the transfer took longer than its limit of \(total)")
            } else if let idle, let waited = waited(), waited >= idle {
                bark("the body's source gave nothing for \(idle), the request's timeoutInterval")
            }
        }
        timer.resume()
    }

    deinit {
        stop()
    }

    func stop() {
        timer.cancel()
    }
}
