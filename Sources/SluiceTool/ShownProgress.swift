import Sluice

/// What people are shown of a transfer: where parts are compressed, the bytes that they know, those of the sources.
struct ShownProgress {
    let completedBytes: Int64
    let totalBytes: Int64?
    /// At the end the rate over all of the time, which is what remains of interest; the present one before.
    let bytesPerSecond: Double?
    let fractionCompleted: Double?
    let secondsRemaining: Double?
    /// How many bytes of the sources one of the body's stands for; nil where no part is compressed, and at the start.
    let ratio: Double?

    init(_ progress: TransferProgress) {
        let source = progress.source
        completedBytes = source?.completedBytes ?? progress.completedBytes
        let total = source.map(\.totalBytes) ?? progress.totalBytes
        totalBytes = total
        let currentRate = source.map(\.bytesPerSecond) ?? progress.bytesPerSecond
        bytesPerSecond =
            progress.isFinished && progress.elapsedSeconds > 0
            ? Double(completedBytes - progress.resumedBytes) / progress.elapsedSeconds : currentRate
        ratio =
            source.flatMap { source in
                progress.completedBytes > 0 ? Double(source.completedBytes) / Double(progress.completedBytes) : nil
            }
        guard let source else {
            fractionCompleted = progress.fractionCompleted
            secondsRemaining = progress.secondsRemaining
            return
        }
        fractionCompleted = total.map { $0 == 0 ? 1 : Double(source.completedBytes) / Double($0) }
        secondsRemaining =
            if let total, let currentRate, currentRate > 0 {
                Double(total - source.completedBytes) / currentRate
            } else {
                nil
            }
    }

    /// `5.31:1`, as compressors say it.
    var ratioText: String? {
        ratio.map { "\(Units.decimal(min($0, 99_999), digits: $0 < 9.995 ? 2 : $0 < 99.95 ? 1 : 0)):1" }
    }
}
