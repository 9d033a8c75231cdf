internal import Synchronization

/// How often what was done, and how it ended.
final class Tally: Sendable, CustomStringConvertible {
    private struct Row {
        var done = 0
        var cancelled = 0
    }

    private struct State {
        var rows: [String: Row] = [:]
        var bytes: Int64 = 0
        var findings: [String] = []
    }

    private let state = Mutex(State())

    /// Counts one, with the bytes that were sent or received and compared.
    func count(_ name: String, isDone: Bool, bytes: Int) {
        state.withLock { state in
            if isDone {
                state.rows[name, default: Row()].done += 1
                state.bytes += Int64(bytes)
            } else {
                state.rows[name, default: Row()].cancelled += 1
            }
        }
    }

    func fail(_ finding: String) {
        state.withLock { $0.findings.append(finding) }
    }

    var findings: [String] { state.withLock { $0.findings } }
    var hasFailed: Bool { !findings.isEmpty }

    var description: String {
        state.withLock { state in
            let done = state.rows.values.reduce(0) { $0 + $1.done }
            let cancelled = state.rows.values.reduce(0) { $0 + $1.cancelled }
            return "\(done) done, \(cancelled) cancelled, \(state.bytes >> 20) MiB"
        }
    }

    /// A line for each kind of work.
    var table: String {
        state.withLock { state in
            state.rows.sorted { $0.key < $1.key }
                .map { "\($0.key): \($0.value.done) done, \($0.value.cancelled) cancelled" }
                .joined(separator: "\n")
        }
    }
}
