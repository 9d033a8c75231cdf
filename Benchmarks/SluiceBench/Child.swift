#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A program that runs beside the benchmark.
struct Child {
    private let process: pid_t
    private let name: String

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: Its path.
    ///   - arguments: What follows its name.
    ///   - input: The descriptor that becomes its standard input; this program's own where nil.
    ///   - output: The descriptor that becomes its standard output.
    /// - Throws: The system's error where it cannot be started.
    init(_ program: String, _ arguments: [String], input: Int32? = nil, output: Int32) throws {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let input { unsafe posix_spawn_file_actions_adddup2(&actions, input, 0) }
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        var words = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var child: pid_t = 0
        let status = unsafe posix_spawn(&child, program, &actions, nil, &words, environ)
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

    /// Waits for its end.
    ///
    /// - Returns: What it used.
    /// - Throws: ``Failure`` where it ended with another status than 0.
    @discardableResult
    func wait() throws -> rusage {
        var usage = rusage()
        var status: Int32 = 0
        try Libc.check("wait4", unsafe wait4(process, &status, 0, &usage))
        guard status == 0 else { throw Failure(name: name, status: status) }
        return usage
    }

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
        var description: String { "\(name) ended with status \(status)" }
    }
}
