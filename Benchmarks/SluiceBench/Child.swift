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
    var peakMebibytes: Double? {
        guard let file = try? Libc.openForReading("/proc/\(process)/status") else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe read(file, &bytes, bytes.count)
        let lines = bytes.prefix(max(count, 0)).split(separator: UInt8(ascii: "\n"))
        guard let line = lines.first(where: { $0.starts(with: "VmHWM:".utf8) }) else { return nil }
        let digits = line.filter { (0x30...0x39).contains($0) }
        return Double(String(decoding: digits, as: UTF8.self)).map { $0 / 1024 }
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
