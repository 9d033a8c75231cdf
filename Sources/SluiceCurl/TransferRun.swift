/// A transfer whose events a task iterates over, and which ends with the iteration.
final class TransferRun<Event: Sendable>: Sendable {
    private let client: CurlClient
    private let ticket: TransferTicket
    private let channel: EventChannel<Event>

    /// Begins the transfer, whose ticket feeds the channel and must not keep this object alive.
    init(_ client: CurlClient, _ ticket: TransferTicket, _ channel: EventChannel<Event>) {
        self.client = client
        self.ticket = ticket
        self.channel = channel
        client.begin(ticket)
    }

    deinit {
        client.cancel(ticket)
    }

    /// The next event; where the task is cancelled, the one that says so.
    func next() async -> Event {
        await withTaskCancellationHandler {
            await channel.next()
        } onCancel: {
            client.cancel(ticket)
        }
    }
}
