import Sluice
import Synchronization

/// The progress reports of a transfer, in the order in which they came.
final class Reports: Sendable {
    private let reports = Mutex<[TransferProgress]>([])

    var all: [TransferProgress] { reports.withLock { $0 } }

    func append(_ report: TransferProgress) {
        reports.withLock { $0.append(report) }
    }
}
