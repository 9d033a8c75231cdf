internal import Foundation
internal import Sluice

/// Calls a progress handler of the caller's on a queue of its own, where it may take its time and call `URLSession`.
final class Reports: Sendable {
    private let queue = DispatchQueue(label: "sluice.progress")
    private let handler: @Sendable (TransferProgress) -> Void

    init(_ handler: @escaping @Sendable (TransferProgress) -> Void) {
        self.handler = handler
    }

    /// Passes a report on; there are ten a second at most.
    var report: @Sendable (TransferProgress) -> Void {
        { [queue, handler] progress in queue.async { handler(progress) } }
    }

    /// Waits until all reports were taken.
    func finish() async {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume() }
        }
    }
}
