import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Runs rows in child processes, prints what they gave, and keeps it.
struct Runner {
    private let options: Options
    private let jobs: JobProcess
    private let table: Table

    /// How many processes a row's rounds are measured in: where memory happens to lie makes each a little faster or
    /// slower than the next, whatever the rounds in it say.
    private let processes: Int

    /// - Parameters:
    ///   - options: What the command line asks for.
    ///   - rows: Those that will be run.
    ///   - directory: Where files may be made.
    ///   - isCompared: Whether ratios are compared with those of another run.
    init(_ options: Options, rows: [Row], directory: String, isCompared: Bool) {
        self.options = options
        processes = isCompared ? 3 : 1
        table = Table(names: rows.map(\.name))
        jobs = JobProcess(shared: directory, progress: StatusLine.show)
    }

    /// - Returns: Everything that was found.
    func run(_ rows: [Row], _ curves: [Growth], command: String) throws -> Report {
        var report = Report(
            date: Date(),
            command: command,
            machine: Machine(peers: options.includesPeers ? PeerRows.names + PeerParserRows.names : []),
            options: options
        )
        if !options.printsJSON {
            if !report.machine.isOptimized { output("Built without optimisation: these figures say nothing.") }
            if !rows.isEmpty { output(table.head) }
        }
        for row in rows {
            let result = measure(row)
            report.rows.append(result)
            if !options.printsJSON { output(table.line(result)) }
        }
        if !options.printsJSON, !rows.isEmpty { output("\(Table.legend)\n\nversions   \(report.machine.versionLine)") }
        for curve in curves {
            let result = measure(curve)
            report.growth.append(result)
            if !options.printsJSON { output("\n\(result.text)") }
        }
        return report
    }

    private func measure(_ row: Row) -> RowResult {
        var result = RowResult(row)
        do {
            if !options.countsOnly {
                for _ in 0..<processes where result.state == .measured && result.value == nil {
                    try addRounds(to: &result)
                }
                guard result.state == .measured, result.value == nil else { return result }
            }
            guard row.isCountedInShortSet || options.countsOnly || !options.isQuick else { return result }
            // Where nothing was timed, there are no sides yet.
            for side in 0..<(row.countsLimits ? max(result.sides.count, 1) : 1) { try addCounts(side, to: &result) }
        } catch {
            result.state = .failed("\(error)")
        }
        StatusLine.clear()
        return result
    }

    /// Measures a row's rounds once more, and takes them in with those that there are.
    private func addRounds(to result: inout RowResult) throws {
        defer { StatusLine.clear() }
        take(try jobs.run(result.name, .rounds, options), into: &result)
    }

    private func addCounts(_ side: Int, to result: inout RowResult) throws {
        take(try jobs.run(result.name, .counts(side: side), options), into: &result)
    }

    private func take(_ job: JobProcess.Result, into result: inout RowResult) {
        switch job.outcome {
        case .absent(let reason): result.state = .absent(reason)
        case .value(let value, let details):
            result.value = value
            result.details = details
        case .times(let bytes, let sides, let absent, let isRace):
            result.take(sides, bytes: bytes, absent: absent, isRace: isRace)
        case .counts(let bytes, let name, let counted):
            result.bytes = bytes
            let counts = Counts(counted, job.calls)
            if let index = result.sides.firstIndex(where: { $0.name == name }) {
                result.sides[index].counts = counts
            } else {
                result.sides.append(Side(name: name, counts: counts))
            }
        case .growth: break
        }
    }

    private func measure(_ growth: Growth) -> GrowthResult {
        var result = GrowthResult(growth)
        defer { StatusLine.clear() }
        for size in growth.sizes(options) {
            do {
                if case .growth(let point) = try jobs.run(growth.name, .growth(size), options).outcome {
                    result.points.append(point)
                }
            } catch {
                result.failure = "\(size) \(growth.unit): \(error)"
                return result
            }
        }
        return result
    }

    /// Compares with results that were kept.
    ///
    /// Rows that look worse are measured again, with more rounds, before they are called so.
    func compare(_ report: inout Report, with old: Report) -> Comparison {
        var comparison = Comparison(old, report, tolerance: options.tolerance)
        for _ in 0..<4 {
            let doubtful = comparison.doubtfulRows
            if doubtful.isEmpty { break }
            for index in report.rows.indices where doubtful.contains(report.rows[index].name) {
                // What cannot be measured again keeps what it has.
                try? addRounds(to: &report.rows[index])
            }
            comparison = Comparison(old, report, tolerance: options.tolerance)
        }
        return comparison
    }

    /// Prints at once, also into a pipe.
    func output(_ text: String) {
        print(text)
        fflush(nil)
    }
}

/// What is going on, in one line on a terminal that is overwritten by the next.
enum StatusLine {
    private static let isShown = isatty(2) == 1

    static func show(_ text: String) { write("\r\u{1B}[K\(text)") }

    static func clear() { write("\r\u{1B}[K") }

    private static func write(_ text: String) {
        guard isShown else { return }
        try? unsafe Array(text.utf8).withUnsafeBytes { unsafe try Libc.writeAll(2, $0) }
    }
}
