public import Foundation
public import Sluice

extension Progress {
    /// A progress handler that keeps a `Progress` up to date.
    ///
    /// ```swift
    /// let progress = Progress(totalUnitCount: body.contentLength ?? -1)
    /// let stream = body.makeInputStream(progress: Progress.handler(for: progress))
    /// ```
    ///
    /// The unit is bytes, and the `Progress` becomes one of the kind `.file`. It is updated at most ten times a
    /// second, on the thread that moves the bytes, and once more at the end. On Linux nothing observes it: ask it.
    ///
    /// - Parameter progress: What to update.
    /// - Returns: What to give as a `progress:` argument.
    public static func handler(for progress: Progress) -> @Sendable (TransferProgress) -> Void {
        progress.kind = .file
        return { progress.update(with: $0) }
    }

    /// Shows a transfer's state.
    ///
    /// Sets `completedUnitCount` and `totalUnitCount` in bytes (the latter is -1, which is indeterminate, while the total is
    /// not known), the estimated time remaining in seconds and the throughput in bytes a second. Where parts are compressed
    /// and their sources' lengths are known, the bytes are those of the sources.
    ///
    /// - Parameter transfer: How far the transfer is.
    public func update(with transfer: TransferProgress) {
        let source = transfer.source.flatMap { $0.totalBytes == nil ? nil : $0 }
        totalUnitCount = source?.totalBytes ?? transfer.totalBytes ?? -1
        completedUnitCount = source?.completedBytes ?? transfer.completedBytes
        let rate = source.map(\.bytesPerSecond) ?? transfer.bytesPerSecond
        setUserInfoObject(transfer.secondsRemaining, forKey: .estimatedTimeRemainingKey)
        setUserInfoObject(rate.map { Int($0) }, forKey: .throughputKey)
    }
}
