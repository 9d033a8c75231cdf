import Foundation
import SluiceTestSupport
import Testing

/// Tests that run the built benchmark: one at a time, as it uses what the machine has.
@Suite(.serialized) enum RealRuns {}

/// A run of the built benchmark, with a directory of its own for its temporary files.
final class BenchProcess {
    struct Outcome {
        /// The exit status; the number of the signal where one ended it.
        let status: Int32
        let output: String
        let errors: String
    }

    private let directory: TemporaryDirectory
    private let process = Process()

    /// Starts the benchmark.
    init(_ arguments: [String], environment: [String: String] = [:]) throws {
        directory = try TemporaryDirectory()
        process.executableURL = URL(fileURLWithPath: try Self.program())
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": directory.path]) { $1 }
            .merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try file("output")
        process.standardError = try file("errors")
        try process.run()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    var pid: pid_t { process.processIdentifier }

    /// The files that are there besides its output: what it has left behind once it has ended.
    var temporaryFiles: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        return names.filter { $0 != "output" && $0 != "errors" }
    }

    /// Sends it a signal.
    func send(_ signal: Int32) {
        kill(pid, signal)
    }

    /// Waits until it has ended.
    func outcome() async throws -> Outcome {
        while process.isRunning { try await Task.sleep(for: .milliseconds(20)) }
        return Outcome(status: process.terminationStatus, output: try text("output"), errors: try text("errors"))
    }

    /// Runs the benchmark to its end.
    static func run(_ arguments: String..., environment: [String: String] = [:]) async throws -> Outcome {
        try await BenchProcess(arguments, environment: environment).outcome()
    }

    private func file(_ name: String) throws -> FileHandle {
        try directory.file(name, [])
        return try FileHandle(forWritingTo: URL(fileURLWithPath: "\(directory.path)/\(name)"))
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try TemporaryDirectory.contents(ofFile: "\(directory.path)/\(name)"), as: UTF8.self)
    }

    /// The built benchmark, beside the tests that run.
    private static func program() throws -> String {
        let tests =
            try CommandLine.arguments.first { $0.hasSuffix(".xctest") }
            ?? ChildProcess.firstLine(of: "readlink", "/proc/\(getpid())/exe")
        return URL(fileURLWithPath: tests).deletingLastPathComponent().path + "/sluice-bench"
    }
}
