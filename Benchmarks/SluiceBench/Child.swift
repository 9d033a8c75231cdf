#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A program that runs beside the benchmark.
struct Child {
    let process: pid_t
    private let name: String

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: Its path.
    ///   - arguments: What follows its name.
    ///   - input: The descriptor that becomes its standard input; this program's own where nil.
    ///   - output: The descriptor that becomes its standard output.
    ///   - environment: What is added to this process's own, `NAME=value` each.
    ///   - leadsGroup: Whether it is the first of a process group, which all that it starts belongs to.
    /// - Throws: The system's error where it cannot be started.
    init(
        _ program: String,
        _ arguments: [String],
        input: Int32? = nil,
        output: Int32,
        environment: [String] = [],
        leadsGroup: Bool = false
    ) throws {
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        if let input { unsafe posix_spawn_file_actions_adddup2(&actions, input, 0) }
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        if leadsGroup { unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP)) }
        var words = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
        // What comes first counts.
        var variables = unsafe environment.map { unsafe strdup($0) }
        defer { unsafe (words + variables).forEach { unsafe free($0) } }
        var inherited = unsafe environ
        while let variable = unsafe inherited.pointee {
            unsafe variables.append(strdup(variable))
            unsafe inherited += 1
        }
        unsafe variables.append(nil)
        var child: pid_t = 0
        let status = unsafe posix_spawn(&child, program, &actions, &attributes, &words, &variables)
        guard status == 0 else { throw Libc.Failure(call: "starting \(program)", code: status) }
        process = child
        name = program
    }

    /// Starts a program whose standard output goes to a file.
    init(_ program: String, _ arguments: [String], output path: String) throws {
        let output = try Libc.check("open \(path)", unsafe open(path, O_WRONLY | O_CLOEXEC))
        defer { close(output) }
        try self.init(program, arguments, output: output)
    }

    /// Ends it, and waits for that.
    func terminate() {
        kill(process, SIGTERM)
        var status: Int32 = 0
        unsafe waitpid(process, &status, 0)
    }

    /// Waits for its end.
    ///
    /// - Throws: ``Failure`` where it ended with another status than 0.
    func wait() throws {
        _ = try hasEnded(options: 0)
    }

    /// Whether it has ended, and been taken leave of.
    ///
    /// - Throws: ``Failure`` where it ended with another status than 0.
    func hasEnded(options: Int32 = WNOHANG) throws -> Bool {
        var status: Int32 = 0
        if try Libc.check("waitpid", unsafe waitpid(process, &status, options)) == 0 { return false }
        guard status == 0 else { throw Failure(name: name, status: status) }
        return true
    }

    /// The most memory that it has had so far, in MiB; nil where the system does not say.
    var peakMebibytes: Double? { ProcessMemory.resident(of: "\(process)")?.peak }

    /// Where a program of the package's is, built like this one.
    static func besideThis(_ name: String) throws -> String {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = try Libc.check("readlink", unsafe readlink("/proc/self/exe", &path, path.count))
        let text = String(decoding: path[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
        return text[...(text.lastIndex(of: "/") ?? text.startIndex)] + name
    }

    /// Where a program of the system's is; nil where it is not installed.
    static func onPath(_ name: String) -> String? {
        guard let path = unsafe getenv("PATH") else { return nil }
        return unsafe String(cString: path).split(separator: ":").map { "\($0)/\(name)" }
            .first { unsafe access($0, X_OK) == 0 }
    }

    struct Failure: Error, CustomStringConvertible {
        let name: String
        let status: Int32
        var description: String {
            status & 0x7F == 0 ? "\(name) ended with status \(status >> 8)" : "\(name) ended by signal \(status & 0x7F)"
        }
    }
}
