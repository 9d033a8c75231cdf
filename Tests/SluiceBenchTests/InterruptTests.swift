import Foundation
import SluiceTestSupport
import Testing

/// Whatever ends the benchmark, nothing of it stays.
extension RealRuns {
    @Suite struct InterruptTests {
        @Test(arguments: zip([SIGINT, SIGTERM, SIGHUP], ["upload-libcurl", "upload-tool", "old-bytes-one-by-one"]))
        func `A signal leaves no files and no processes`(signal: Int32, row: String) async throws {
            let bench = try BenchProcess(["--filter", row, "--size", "16", "--rounds", "100000"])
            // Until the row's process, and the receiver that it starts, are there.
            let hasStarted = await ProcessState.settles(within: 120) {
                descendants(of: bench.pid).count >= (row.hasPrefix("upload") ? 2 : 1) && !bench.temporaryFiles.isEmpty
            }
            try #require(hasStarted)
            let children = descendants(of: bench.pid)
            bench.send(signal)
            let outcome = try await bench.outcome()
            #expect(outcome.status == 128 + signal)
            #expect(bench.temporaryFiles == [])
            let areGone = await ProcessState.settles(within: 30) { children.allSatisfy { !isRunning($0) } }
            #expect(areGone)
        }

        @Test func `The row's processes end with the benchmark, even where it is killed`() async throws {
            let bench = try BenchProcess(["--filter", "upload-libcurl", "--size", "16", "--rounds", "100000"])
            let hasStarted = await ProcessState.settles(within: 120) { descendants(of: bench.pid).count >= 2 }
            try #require(hasStarted)
            let children = descendants(of: bench.pid)
            bench.send(SIGKILL)
            _ = try await bench.outcome()
            let areGone = await ProcessState.settles(within: 30) { children.allSatisfy { !isRunning($0) } }
            #expect(areGone)
        }

        @Test func `A run to its end leaves nothing either`() async throws {
            let bench = try BenchProcess(["--filter", "write-socket", "--size", "1", "--rounds", "1"])
            let outcome = try await bench.outcome()
            #expect([0, 1].contains(outcome.status), "\(outcome.errors)")
            #expect(outcome.output.contains("write-socket"))
            #expect(bench.temporaryFiles == [])
        }

        /// Its children, theirs, and so on.
        private func descendants(of process: pid_t) -> [pid_t] {
            let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { pid_t($0) } ?? []
            var parents: [pid_t: pid_t] = [:]
            for process in all { parents[process] = status(of: process)?.parent }
            return all.filter { candidate in
                var ancestor = parents[candidate]
                while let next = ancestor, next != process { ancestor = parents[next] }
                return ancestor != nil
            }
        }

        /// Whether there is such a process, and it is not only waiting for its parent to take notice of its end.
        private func isRunning(_ process: pid_t) -> Bool {
            guard let status = status(of: process) else { return false }
            return status.state != "Z" && status.state != "X"
        }

        private func status(of process: pid_t) -> (state: Substring, parent: pid_t)? {
            guard let text = try? TemporaryDirectory.contents(ofFile: "/proc/\(process)/stat") else { return nil }
            // Behind the name, which is in parentheses and may hold anything.
            let words = String(decoding: text, as: UTF8.self).split(separator: ") ").last?.split(separator: " ") ?? []
            guard words.count > 1, let parent = pid_t(words[1]) else { return nil }
            return (words[0], parent)
        }
    }
}
