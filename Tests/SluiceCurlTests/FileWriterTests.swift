import Sluice
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceCurl

/// What the writer of a file does behind its end.
@Suite struct FileWriterTests {
    @Test(arguments: [true, false])
    func `What comes behind the end of a file is left with nobody`(commits: Bool) async throws {
        let directory = try TemporaryDirectory()
        let threads = DiskThreads()
        let ends = AsyncStream.makeStream(of: Void.self)
        weak var released: FileWriter?
        do {
            let file = PartialFile("\(directory.path)/target", .init(), urlDigest: nil)
            let writer = try FileWriter(file, threads) { event in
                switch event {
                case .committed, .closed: ends.continuation.yield()
                case .opened, .room, .failed: break
                }
            }
            released = writer
            writer.open()
            if commits { writer.commit(total: 0) } else { writer.abandon(keeps: false) }
            for await _ in ends.stream { break }
            // There is no thread left to take it.
            #expect(await ProcessState.settles { threads.isIdle })
            writer.abandon(keeps: true)
            writer.open()
        }
        #expect(await ProcessState.settles { released == nil })
        #expect(threads.isIdle)
        #expect(try directory.names() == (commits ? ["target"] : []))
    }
}
