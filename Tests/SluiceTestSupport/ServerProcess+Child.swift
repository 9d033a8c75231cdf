internal import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A child process with a pipe to its standard input and one from its standard output.
///
/// It inherits no other descriptor: a child that held a test's connections open would change what the test sees.
package final class ChildProcess: Sendable {
    /// Why there is no child.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        init(_ description: String) {
            self.description = description
        }
    }

    private let pid: pid_t
    private let input: Int32
    private let output: Int32
    /// Whether it has ended, and nothing is left of it.
    private let isGone = Box<Bool>()

    /// Starts a program, by its path or by its name on the PATH.
    package init(_ command: [String]) throws {
        var inputEnds: [Int32] = [-1, -1]
        var outputEnds: [Int32] = [-1, -1]
        guard unsafe pipe(&inputEnds) == 0, unsafe pipe(&outputEnds) == 0 else { throw Failure("no pipe") }
        defer {
            close(inputEnds[0])
            close(outputEnds[1])
        }
        // For children that others start.
        for descriptor in inputEnds + outputEnds { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        input = inputEnds[1]
        output = outputEnds[0]
        do {
            pid = try Self.spawn(command, input: inputEnds[0], output: outputEnds[1])
        } catch {
            close(inputEnds[1])
            close(outputEnds[0])
            throw error
        }
        // At once, by a thread of its own: what waits for the processes of exit tests looks at the first child that has
        // ended, and for ever at one that nobody takes away.
        try WorkerThread.start("test-child") { [pid, isGone] in
            var status: Int32 = 0
            while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
            isGone.value = true
        }
    }

    deinit {
        close(input)
        close(output)
        // Five seconds, then by force.
        for _ in 0..<500 {
            if isGone.value == true { return }
            usleep(10_000)
        }
        kill(pid, SIGKILL)
    }

    /// The child's output up to its end or to a newline, without that.
    package func readLine() -> String? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while unsafe read(output, &byte, 1) == 1, byte != 0x0A { line.append(byte) }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }

    /// The first line that a program prints.
    package static func firstLine(of command: String...) throws -> String {
        try ChildProcess(command).readLine() ?? ""
    }

    /// A file's SHA-256 in hexadecimal, as `sha256sum` has it.
    package static func sha256(ofFile path: String) throws -> String {
        let digest = try firstLine(of: "sha256sum", path).prefix { $0 != " " }
        guard digest.count == 64 else { throw Failure("sha256sum failed for \(path)") }
        return String(digest)
    }

    private static func spawn(_ command: [String], input: Int32, output: Int32) throws -> pid_t {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #else
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #endif
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        #if canImport(Darwin)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_CLOEXEC_DEFAULT))
        #else
        // Swift does not see posix_spawn_file_actions_addclosefrom_np; closing what is not open is no error.
        for descriptor in 3..<Int32(512) { unsafe posix_spawn_file_actions_addclose(&actions, descriptor) }
        #endif

        var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        var pid: pid_t = 0
        let status = unsafe posix_spawnp(&pid, command[0], &actions, &attributes, &arguments, environ)
        guard status == 0 else { throw Failure("\(command[0]) does not start: errno \(status)") }
        return pid
    }
}
