import SluiceTestSupport
import Testing

@testable import Sluice

/// The threads that files are written on, where there are none to be had.
@Suite struct DiskThreadsTests {
    @Test func `A file waits for no thread that has not started`() async throws {
        await #expect(processExitsWith: .success) {
            for _ in 0..<200 {
                let threads = DiskThreads()
                SystemFaults.arm(.init(functions: ["pthread_create"], .failure(.wouldBlock)))
                let begun = await withTaskGroup(of: Bool.self) { group in
                    for _ in 0..<4 { group.addTask { (try? threads.beginFile()) != nil } }
                    return await group.reduce(into: 0) { count, isBegun in count += isBegun ? 1 : 0 }
                }
                _ = SystemFaults.disarm()
                #expect(begun == 0)
                #expect(threads.isIdle)
                // And those that failed left nothing behind that would keep another one from starting.
                try threads.beginFile()
                await withCheckedContinuation { continuation in threads.run { continuation.resume() } }
                threads.endFile()
                #expect(await ProcessState.settles { threads.isIdle })
            }
        }
    }
}
