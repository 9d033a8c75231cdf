import Sluice
import SluiceCurl

/// One transfer's share of the display.
struct TransferDisplay: Sendable {
    private let display: ProgressDisplay
    private let number: Int

    /// Makes the share of a transfer.
    ///
    /// - Parameters:
    ///   - display: The display.
    ///   - number: The transfer's number, from 0.
    init(_ display: ProgressDisplay, _ number: Int) {
        self.display = display
        self.number = number
    }

    /// Shows how far it is.
    func show(_ progress: TransferProgress) {
        display.show(progress, of: number)
    }

    /// Shows that it is tried again.
    func show(_ notice: RetryNotice) {
        display.show(notice, of: number)
    }

    /// Ends its bar, if it has one of its own.
    ///
    /// - Parameter keepsBar: Whether the bar stays.
    func end(keepsBar: Bool) {
        display.endOnly(keepsBar: keepsBar)
    }

    /// Says something about it in a line of its own.
    ///
    /// - Parameter text: What to say, without control characters.
    func say(_ text: String) {
        display.say(text, of: number)
    }
}
