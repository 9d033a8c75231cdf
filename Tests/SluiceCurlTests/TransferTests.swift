import Sluice
import Testing

@testable import SluiceCurl

/// A transfer without a network: what it keeps from one request to the next.
@Suite struct TransferTests {
    private let surroundings = Transfer.Surroundings(
        lastWords: LastWords(),
        diskThreads: DiskThreads(),
        userAgent: "test"
    ) { _ in }

    @Test func `A new request is not paused, whatever the one before was`() throws {
        var request = CurlRequest(url: "http://127.0.0.1:1/")
        request.retry = .quick(2)
        let ticket = TransferTicket(.chunks(ChunkChannel(capacity: 10)), request, meter: nil) { _ in }
        let transfer = try Transfer(ticket, surroundings)
        try transfer.prepare(share: .max)
        for line in ["HTTP/1.1 200 OK\r\n", "ETag: \"a\"\r\n", "\r\n"] {
            #expect(unsafe Array(line.utf8).withUnsafeBytes { unsafe transfer.takeHeader($0) })
        }
        let piece = [UInt8](repeating: 0, count: 8)
        #expect(unsafe piece.withUnsafeBytes { unsafe transfer.takeBody($0) } == .taken)
        #expect(!transfer.isPaused)
        #expect(unsafe piece.withUnsafeBytes { unsafe transfer.takeBody($0) } == .pause)
        #expect(transfer.isPaused)
        try transfer.beginAttempt()
        try transfer.prepare(share: .max)
        #expect(!transfer.isPaused)
    }
}
