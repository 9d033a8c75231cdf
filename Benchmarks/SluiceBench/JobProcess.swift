internal import CSluiceBench
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Runs jobs in child processes, so that each has memory, threads and counters of its own.
final class JobProcess {
    private let shared: String
    private let progress: (String) -> Void
    private var number = 0

    /// - Parameters:
    ///   - shared: The directory of the run.
    ///   - progress: Is told what a child says that it is doing.
    init(shared: String, progress: @escaping (String) -> Void) {
        self.shared = shared
        self.progress = progress
    }

    /// What came of a job, and what its system calls were where it was counted.
    struct Result {
        let outcome: Outcome
        var calls: Calls?
    }

    /// System calls as they were seen.
    struct Calls {
        var runs: [sluice_system_calls]
        var byName: [String: Int64]
    }

    /// - Throws: ``Failure`` with what the child says that went wrong, or how it ended.
    func run(_ name: String, _ pass: Job.Pass, _ options: Options) throws -> Result {
        number += 1
        let directory = "\(shared)/\(number)"
        try Libc.check("mkdir", unsafe mkdir(directory, 0o700))
        defer { unsafe sluice_remove_tree(directory) }
        let job = Job(name: name, pass: pass, options: options, directory: directory, shared: shared)
        let text = String(decoding: try JSONEncoder().encode(job), as: UTF8.self)
        let child = try PipedChild(
            "/proc/self/exe",
            ["--job", text],
            environment: isCounting(pass) ? countingEnvironment() : [],
            leadsGroup: true
        )
        WorkingDirectory.remember(group: child.process.process)
        defer { WorkingDirectory.endGroup() }
        var calls: Calls?
        while let line = try child.nextLine() {
            switch try JSONDecoder().decode(Message.self, from: Data(line.utf8)) {
            case .progress(let text): progress("\(name): \(text)")
            case .isReady: calls = try count(child)
            case .failure(let text): throw Failure(description: text)
            case .outcome(let outcome):
                _ = try? child.process.wait()
                return Result(outcome: outcome, calls: calls)
            }
        }
        try child.process.wait()
        throw Failure(description: "its process ended without a result")
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private func isCounting(_ pass: Job.Pass) -> Bool {
        if case .counts = pass { true } else { false }
    }

    /// Sets what makes runs differ that do the same, and loads what counts copies where it was built.
    private func countingEnvironment() -> [String] {
        let library = (try? Child.besideThis("libSluiceCopyCounter.so")) ?? ""
        return ["SWIFT_DETERMINISTIC_HASHING=1"]
            + (unsafe access(library, R_OK) == 0 ? ["LD_PRELOAD=\(library)"] : [])
    }

    private func count(_ child: PipedChild) throws -> Calls? {
        var runs = [sluice_system_calls](repeating: sluice_system_calls(), count: JobChild.countedRuns)
        var byNumber = [Int64](repeating: 0, count: Int(sluice_system_call_numbers))
        let status = unsafe sluice_count_system_calls(
            child.process.process,
            child.input,
            Int32(runs.count),
            &runs,
            &byNumber
        )
        switch status {
        case 0: break
        case ECHILD: throw Failure(description: "its process ended while it was counted")
        default:
            // Not allowed, or not possible here: the child counts what it can by itself.
            try child.send("")
            return nil
        }
        var byName: [String: Int64] = [:]
        for (number, count) in byNumber.enumerated() where count > 0 {
            let name = unsafe sluice_system_call_name(Int32(number)).map { unsafe String(cString: $0) }
            byName[name ?? "number \(number)"] = count
        }
        return Calls(runs: runs, byName: byName)
    }
}
