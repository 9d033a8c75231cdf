internal import Foundation
internal import SluiceTestSupport

/// What this process and the receiver hold while nothing runs.
struct Sample: CustomStringConvertible {
    /// What one process holds.
    struct Holdings: Equatable, CustomStringConvertible {
        var kilobytes = 0
        var descriptors = 0
        var threads = 0

        var description: String { "\(kilobytes) KiB, \(descriptors) descriptors, \(threads) threads" }

        /// Looks at a process: its number, or `self`.
        init(_ process: String) throws {
            descriptors = ProcessState.openDescriptors(of: process).count
            threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task").count
            let words = String(
                decoding: try TemporaryDirectory.contents(ofFile: "/proc/\(process)/statm"),
                as: UTF8.self
            ).split(separator: " ")
            kilobytes = (Int(words[1]) ?? 0) * 4
        }
    }

    let own: Holdings
    let receiver: Holdings

    var description: String { "own \(own); receiver \(receiver)" }

    /// What is held when threads and connections of what has ended are gone: the least in a few seconds.
    static func settled(_ peers: Peers) async throws -> Sample {
        var least: Sample?
        for _ in 0..<15 {
            let sample = Sample(own: try Holdings("self"), receiver: try Holdings(peers.receiverProcess))
            if let before = least {
                let isLess =
                    sample.own.threads + sample.own.descriptors + sample.receiver.threads + sample.receiver.descriptors
                    <= before.own.threads + before.own.descriptors + before.receiver.threads
                    + before.receiver.descriptors
                if isLess { least = sample }
            } else {
                least = sample
            }
            try await Task.sleep(for: .milliseconds(200))
        }
        return try least ?? Sample(own: Holdings("self"), receiver: Holdings(peers.receiverProcess))
    }

    /// The memory that may come and go between rounds: pools of the allocator and of the runtime.
    private static let tolerance = 8 << 10

    /// What grew, in words: the last quarter of the samples against the second one, behind a first one of warming up.
    static func growth(_ samples: [Sample]) -> [String] {
        guard samples.count >= 8 else { return ["there are too few samples: \(samples.count)"] }
        let quarter = samples.count / 4
        let (early, late) = (samples[quarter..<2 * quarter], samples[(samples.count - quarter)...])
        func median(_ samples: ArraySlice<Sample>, _ value: KeyPath<Sample, Int>) -> Int {
            samples.map { $0[keyPath: value] }.sorted()[samples.count / 2]
        }
        var findings: [String] = []
        func compare(_ what: String, _ value: KeyPath<Sample, Int>, _ tolerance: Int) {
            let (before, after) = (median(early, value), median(late, value))
            print("\(what): \(before), then \(after)")
            if after > before + tolerance { findings.append("\(what) grew from \(before) to \(after)") }
        }
        compare("own KiB", \.own.kilobytes, tolerance)
        compare("own descriptors", \.own.descriptors, 0)
        // Of the pools that Swift and Dispatch keep, one may wait or not.
        compare("own threads", \.own.threads, 2)
        compare("the receiver's KiB", \.receiver.kilobytes, tolerance)
        compare("the receiver's descriptors", \.receiver.descriptors, 0)
        compare("the receiver's threads", \.receiver.threads, 2)
        return findings
    }
}
