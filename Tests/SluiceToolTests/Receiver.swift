import SluiceTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A running `sluice receive`, ended when this object goes.
final class Receiver: Sendable {
    let process: ToolProcess
    let url: String
    /// Where it stores files.
    let inbox: String
    private let directory: TemporaryDirectory

    /// Starts a receiver and waits until it listens.
    convenience init(_ options: String..., before script: String = "") async throws {
        try await self.init(options, before: script)
    }

    init(_ options: [String], before script: String = "") async throws {
        directory = try TemporaryDirectory()
        inbox = "\(directory.path)/in"
        let arguments = ["receive", "--port", "0", "--into", inbox] + options
        process =
            script.isEmpty
            ? try ToolProcess([ToolProcess.tool] + arguments)
            : try ToolProcess(["/bin/bash", "-c", "\(script)\nexec \"$@\"", "bash", ToolProcess.tool] + arguments)
        let process = process
        let listens = await ProcessState.settles(within: 60) { process.outputSoFar.hasSuffix("\n") }
        guard listens else { throw ToolFailure(description: "the receiver does not listen: \(process.errorsSoFar)") }
        url = String(process.outputSoFar.dropLast())
    }

    /// Its address without the scheme, as `nc` and Bash's `/dev/tcp` want it.
    var port: String { String(url.dropLast().split(separator: ":").last ?? "") }

    /// Ends it as a user does.
    func stop(_ signal: Int32 = SIGTERM) async throws -> ToolProcess.Outcome {
        process.send(signal)
        return try await process.outcome()
    }

    func names() throws -> [String] { try Files.names(in: inbox) }

    func content(_ name: String) throws -> [UInt8] {
        try TemporaryDirectory.contents(ofFile: "\(inbox)/\(name)")
    }

    /// What curl gets; its output ends with the status in a line of its own.
    func curl(_ arguments: [String]) async throws -> (status: Int?, body: [UInt8], run: ToolProcess.Outcome) {
        let run = try await ToolProcess(
            ["curl", "-q", "-s", "-S", "--max-time", "120", "-w", "\n%{http_code}", url] + arguments
        ).outcome(within: 150)
        let end = run.output.lastIndex(of: UInt8(ascii: "\n")) ?? 0
        let status = Int(String(decoding: run.output[end...].dropFirst(), as: UTF8.self))
        return (status, Array(run.output[..<end]), run)
    }
}
