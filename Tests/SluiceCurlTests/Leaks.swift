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
        func new() -> [String: String] { ProcessState.openDescriptors().filter { before[$0.key] != $0.value } }
        #expect(await ProcessState.settles { new().isEmpty }, "\(new())")
    }
}
