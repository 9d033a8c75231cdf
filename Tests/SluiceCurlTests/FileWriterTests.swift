import Glibc
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

    @Test(arguments: [0, 3, 6])
    func `A file that another program has changed does not take its place`(size: Int) throws {
        let directory = try TemporaryDirectory()
        try directory.file("target", Array("old".utf8))
        let file = PartialFile("\(directory.path)/target", .init(), urlDigest: nil)
        _ = try file.open { false }
        let block = FileWriter.Block()
        _ = unsafe Array("hello".utf8).withUnsafeBytes { unsafe block.append($0) }
        try file.write(block)
        let names = try directory.names().filter { $0 != "target" }
        #expect(names.count == 1)
        #expect(unsafe truncate("\(directory.path)/\(names[0])", off_t(size)) == 0)
        let error = #expect(throws: TransferError.self) { _ = try file.commit(total: 5) { false } }
        #expect(error?.code == .contentMismatch)
        file.close(keeps: false)
        #expect(try TemporaryDirectory.contents(ofFile: "\(directory.path)/target") == Array("old".utf8))
        #expect(try directory.names() == ["target"])
    }
}
