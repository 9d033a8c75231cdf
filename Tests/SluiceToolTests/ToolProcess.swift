import Sluice
import SluiceTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A run of the built tool, or of another program, with its output in files.
final class ToolProcess: Sendable {
    /// How a process ended, and what it wrote.
    struct Outcome: Sendable {
        /// The exit status; nil where a signal ended the process.
        let status: Int32?
        /// The signal that ended the process.
        let signal: Int32?
        let output: [UInt8]
        let errors: String
        /// The most memory that it was seen to have, in KiB.
        let peakMemory: Int
        /// When it ended.
        let end: SuspendingClock.Instant

        var text: String { String(decoding: output, as: UTF8.self) }
    }

    /// The built tool, beside the tests that run.
    static let tool: String = {
        let tests =
            CommandLine.arguments.first { $0.hasSuffix(".xctest") }
            ?? (try? ChildProcess.firstLine(of: "readlink", "/proc/\(getpid())/exe")) ?? ""
        let directory = tests.utf8.lastIndex(of: UInt8(ascii: "/")).map { tests[...$0] } ?? "./"
        return "\(directory)sluice"
    }()

    let pid: pid_t
    private let directory: TemporaryDirectory
    /// Whether nothing is left of it.
    private let isGone = Box<Bool>()

    /// Starts a program by its path and arguments, with a file as its standard input.
    init(_ command: [String], input: String = "/dev/null") throws {
        directory = try TemporaryDirectory()
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        // The test runner's signals are its own affair.
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        unsafe posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
        for (descriptor, name) in [(1, "output"), (2, "errors")] {
            let path = "\(directory.path)/\(name)"
            unsafe posix_spawn_file_actions_addopen(
                &actions,
                Int32(descriptor),
                path,
                O_RDWR | O_CREAT | O_APPEND,
                0o600
            )
        }
        for descriptor in 3..<Int32(256) { unsafe posix_spawn_file_actions_addclose(&actions, descriptor) }
        var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        var pid: pid_t = 0
        let status = unsafe posix_spawnp(&pid, command[0], &actions, &attributes, &arguments, environ)
        guard status == 0 else { throw ToolFailure(description: "\(command[0]) does not start: errno \(status)") }
        self.pid = pid
    }

    /// Ends it, and takes away what is left: exit tests wait for ever behind a child that nobody takes away.
    deinit {
        guard isGone.value != true else { return }
        kill(pid, SIGKILL)
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
    }

    /// Sends a signal.
    func send(_ signal: Int32) {
        kill(pid, signal)
    }

    /// What it has written to standard output up to now.
    var outputSoFar: String {
        let bytes = try? TemporaryDirectory.contents(ofFile: "\(directory.path)/output")
        return String(decoding: bytes ?? [], as: UTF8.self)
    }

    /// What it has written to standard error up to now.
    var errorsSoFar: String {
        let bytes = try? TemporaryDirectory.contents(ofFile: "\(directory.path)/errors")
        return String(decoding: bytes ?? [], as: UTF8.self)
    }

    /// Waits until it has ended, so many seconds at most.
    func outcome(within seconds: Int = 60) async throws -> Outcome {
        // On a thread of its own: other tests keep the shared ones busy, and a peak of memory would go by unseen.
        let (status, peak, end) = try await withCheckedThrowingContinuation { continuation in
            do {
                try WorkerThread.start("outcome") { continuation.resume(with: self.wait(seconds)) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
        let signal = status & 0x7F
        return Outcome(
            status: signal == 0 ? status >> 8 & 0xFF : nil,
            signal: signal == 0 ? nil : signal,
            output: try TemporaryDirectory.contents(ofFile: "\(directory.path)/output"),
            errors: errorsSoFar,
            peakMemory: peak,
            end: end
        )
    }

    private func wait(_ seconds: Int) -> Result<(Int32, Int, SuspendingClock.Instant), any Error> {
        var peak = 0
        var status: Int32 = 0
        let deadline = SuspendingClock.now + .seconds(seconds)
        while unsafe waitpid(pid, &status, WNOHANG) == 0 {
            peak = max(peak, memory())
            if SuspendingClock.now > deadline {
                kill(pid, SIGKILL)
                unsafe waitpid(pid, &status, 0)
                isGone.value = true
                return .failure(
                    ToolFailure(description: "runs for more than \(seconds) seconds; it said: \(errorsSoFar)")
                )
            }
            usleep(3000)
        }
        isGone.value = true
        return .success((status, peak, SuspendingClock.now))
    }

    /// The peak of its resident memory.
    ///
    /// What `wait4` tells would count the test runner, which it was made from.
    private func memory() -> Int {
        guard let status = try? TemporaryDirectory.contents(ofFile: "/proc/\(pid)/status"),
            let line = String(decoding: status, as: UTF8.self).split(separator: "\n").first(where: {
                $0.hasPrefix("VmHWM")
            })
        else { return 0 }
        return Int(line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first ?? "") ?? 0
    }
}

struct ToolFailure: Error, CustomStringConvertible {
    let description: String
}

/// Runs the tool to its end.
func sluice(_ arguments: String..., input: String = "/dev/null") async throws -> ToolProcess.Outcome {
    try await ToolProcess([ToolProcess.tool] + arguments, input: input).outcome()
}

/// Runs the tool to its end.
func sluice(_ arguments: [String], input: String = "/dev/null") async throws -> ToolProcess.Outcome {
    try await ToolProcess([ToolProcess.tool] + arguments, input: input).outcome()
}

/// Runs a script, which has the tool's path in `$sluice` and the arguments in `$1` and so on.
func shell(_ script: String, _ arguments: String...) async throws -> ToolProcess.Outcome {
    try await ToolProcess(["/bin/bash", "-c", "sluice=\(ToolProcess.tool)\n\(script)", "bash"] + arguments).outcome()
}
