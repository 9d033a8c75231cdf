import SluiceTestSupport
import Testing

/// Compares what the process holds before and after.
enum Leaks {
    static func expectNone(_ work: () async throws -> Void) async throws {
        // Once before, for what the runtime and libcurl open for good.
        try await work()
        let threads = ["sluice-curl", "sluice-read", "sluice-disk"]
        #expect(await ProcessState.settles { ProcessState.threadNames().allSatisfy { !threads.contains($0) } })
        let before = ProcessState.openDescriptors()
        try await work()
        #expect(await ProcessState.settles { ProcessState.threadNames().allSatisfy { !threads.contains($0) } })
        func new() -> [String: String] {
            // Dispatch opens timers of its own when tasks sleep.
            ProcessState.openDescriptors().filter { before[$0.key] != $0.value && $0.value != "anon_inode:[timerfd]" }
        }
        #expect(await ProcessState.settles { new().isEmpty }, "\(new())")
    }
}
