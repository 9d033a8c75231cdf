internal import Sluice

/// Runs what blocks on a thread of its own, so that it never takes one from the pool that tasks share: with two cores,
/// two blocked tests would stop all others, and the tasks that these wait for.
package func onThread<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        do {
            try WorkerThread.start("sluice-test") { continuation.resume(with: Swift.Result { try work() }) }
        } catch {
            continuation.resume(throwing: error)
        }
    }
}

/// Waits until something has happened elsewhere; false where it has not in a time that is too long on any machine.
package func eventually(_ condition: () throws -> Bool) async rethrows -> Bool {
    for _ in 0..<3000 {
        if try condition() { return true }
        try? await Task.sleep(for: .milliseconds(10))
    }
    return try condition()
}
