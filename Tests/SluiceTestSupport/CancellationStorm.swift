/// Work that is cancelled at random moments, some at a time, until that has ended it so often.
package struct CancellationStorm: Sendable {
    /// What became of it.
    package struct Counts: Sendable, CustomStringConvertible {
        /// The work that ended because it was cancelled.
        package var cancelled = 0
        /// The work that was done before.
        package var completed = 0

        package var description: String { "\(cancelled) cancelled, \(completed) completed" }
    }

    private enum Problem: Error {
        /// Work that nobody cancelled says that it was.
        case endedUncancelled
        /// Hardly a cancellation came before the work was done.
        case hardlyCancelled
    }

    private let count: Int
    private let seed: UInt64

    /// How often work is cancelled in each test of this kind: a few times, or as often as the environment says in
    /// `SLUICE_CANCELLATIONS`, as `make storm` does.
    package static func count(_ environment: [String: String], few: Int) -> Int {
        environment["SLUICE_CANCELLATIONS"].flatMap { Int($0) } ?? few
    }

    package init(count: Int, seed: UInt64) {
        self.count = count
        self.seed = seed
    }

    /// Does it.
    ///
    /// - Parameters:
    ///   - width: How many are under way at a time.
    ///   - work: What is done with the number it is given: true where it was done to its end, false where it ended by the
    ///     cancellation; anything else it throws.
    /// - Returns: How they ended.
    /// - Throws: What `work` throws.
    package func run(width: Int = 8, _ work: @escaping @Sendable (Int) async throws -> Bool) async throws -> Counts {
        var random = SeededGenerator(seed: seed)
        // How long it takes undisturbed, and with as many beside it: the moments are spread over a little more than that.
        var longest = Duration.zero
        // The first time takes longer than any other.
        for _ in 0..<2 {
            let start = SuspendingClock.now
            try await withThrowingTaskGroup { group in
                for index in 0..<width {
                    group.addTask { if try await !work(index) { throw Problem.endedUncancelled } }
                }
                try await group.waitForAll()
            }
            longest = max((SuspendingClock.now - start) * 1.2, .microseconds(200))
        }
        var counts = Counts()
        var started = 0
        while counts.cancelled < count {
            guard started < 100 * count else { throw Problem.hardlyCancelled }
            let completed = counts.completed
            let delays = (0..<width).map { _ in longest * Double.random(in: 0...1, using: &random) }
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for (index, delay) in delays.enumerated() {
                    let number = started + index
                    group.addTask {
                        let task = Task { try await work(number) }
                        try? await Task.sleep(for: delay)
                        task.cancel()
                        return try await task.value
                    }
                }
                while let isComplete = try await group.next() {
                    if isComplete { counts.completed += 1 } else { counts.cancelled += 1 }
                }
            }
            started += delays.count
            // So that a few still come too late, whatever else the machine does by now.
            longest = max(longest * (counts.completed - completed > width / 4 ? 0.9 : 1.1), .microseconds(200))
        }
        return counts
    }
}
