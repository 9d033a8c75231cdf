import Sluice
import SluiceCurl
internal import Synchronization

/// Does the transfers of a command, some at the same time, with their progress shown and signals heeded.
struct Transfers: Sendable {
    private let options: RunOptions
    private let lengths: [Int64?]
    private let leavesNothing: Bool
    private let console: Console

    /// Plans transfers.
    ///
    /// - Parameters:
    ///   - options: How.
    ///   - lengths: The bytes of each, where they are known.
    ///   - leavesNothing: Whether there is nothing to be cleaned up or kept when a signal comes, so that the process may end
    ///     at once; else the transfers are cancelled first.
    ///   - console: Where progress and errors go.
    init(_ options: RunOptions, lengths: [Int64?], leavesNothing: Bool = false, on console: Console) {
        self.options = options
        self.lengths = lengths
        self.leavesNothing = leavesNothing
        self.console = console
    }

    /// Does them.
    ///
    /// One that fails does not stop the others, unless the options say so.
    ///
    /// - Parameter transfer: Does the transfer of this number, from 0, with this client, and tells that display about it.
    /// - Throws: What the only one threw; of several, which say themselves why they failed, the status of the first.
    func run(
        _ transfer: @escaping @Sendable (Int, CurlClient, TransferDisplay) async throws(ToolError) -> Void
    ) async throws(ToolError) {
        let display = ProgressDisplay(options.progress, lengths: lengths, on: console)
        let unfinishedLine = Cleanup.add { display.end(keepsBar: false) }
        let client = CurlClient()
        let work = Task { await failures(of: transfer, client, display) }
        if !leavesNothing { Signals.onSignal { work.cancel() } }
        let failed = await work.value
        await client.close()
        Cleanup.forget(unfinishedLine)
        display.end(keepsBar: lengths.count > 1 && !work.isCancelled)
        Signals.endIfReceived()
        Signals.onSignal(nil)
        guard let first = failed.min(by: { $0.key < $1.key })?.value else { return }
        if lengths.count == 1 { throw first }
        throw ToolError(first.exitCode, "\(failed.count) of \(lengths.count) transfers failed")
    }

    /// Runs all of them, and gives the errors of those that failed by themselves.
    private func failures(
        of transfer: @escaping @Sendable (Int, CurlClient, TransferDisplay) async throws(ToolError) -> Void,
        _ client: CurlClient,
        _ display: ProgressDisplay
    ) async -> [Int: ToolError] {
        let queue = TransferQueue(lengths.count)
        await withTaskGroup(of: Bool.self) { group in
            // Each does one after the other, so that nothing stands between the end of one and the start of the next.
            for _ in 0..<min(options.parallel, lengths.count) {
                group.addTask {
                    while !Task.isCancelled, let number = queue.next() {
                        let share = TransferDisplay(display, number)
                        do throws(ToolError) {
                            try await transfer(number, client, share)
                            display.end(number, succeeded: true)
                        } catch {
                            display.end(number, succeeded: false)
                            // What was cancelled has no error of its own to tell.
                            if Task.isCancelled { break }
                            queue.add(error, of: number)
                            if lengths.count > 1 { share.say(error.message) }
                            if options.failsEarly { return true }
                        }
                    }
                    return false
                }
            }
            for await endsOthers in group where endsOthers { group.cancelAll() }
        }
        return queue.failures
    }
}
