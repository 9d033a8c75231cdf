#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A program that is talked to by lines, through pipes.
///
/// It ends by itself when its standard input ends, which is when this object goes.
final class PipedChild {
    let process: Child
    /// The end of the pipe that lines are written to.
    let input: Int32
    private let output: Int32
    private var unread: [UInt8] = []

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: Its path.
    ///   - arguments: What follows its name.
    ///   - environment: What is added to this process's own, `NAME=value` each.
    ///   - leadsGroup: Whether it is the first of a process group, which all that it starts belongs to.
    /// - Throws: The system's error where it cannot be started.
    init(_ program: String, _ arguments: [String], environment: [String] = [], leadsGroup: Bool = false) throws {
        let (toChild, fromChild) = (try Pipe(), try Pipe())
        defer {
            close(toChild.reading)
            close(fromChild.writing)
        }
        (input, output) = (toChild.writing, fromChild.reading)
        do {
            process = try Child(
                program,
                arguments,
                input: toChild.reading,
                output: fromChild.writing,
                environment: environment,
                leadsGroup: leadsGroup
            )
        } catch {
            close(input)
            close(output)
            throw error
        }
    }

    deinit {
        close(input)
        close(output)
        _ = try? process.wait()
    }

    func send(_ line: String) throws {
        try unsafe Array("\(line)\n".utf8).withUnsafeBytes { unsafe try Libc.writeAll(input, $0) }
    }

    /// Its next line; nil at the end of its output.
    func nextLine() throws -> String? {
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { unread.removeSubrange(...end) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            var chunk = [UInt8](repeating: 0, count: 4096)
            let count = unsafe read(output, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            if try Libc.check("read", count) == 0 { return nil }
            unread += chunk[..<count]
        }
    }

    private struct Pipe {
        let reading: Int32
        let writing: Int32

        /// Both ends are closed in programs that are started, but for what they are given.
        init() throws {
            var ends: [Int32] = [0, 0]
            try Libc.check("pipe", unsafe pipe(&ends))
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            (reading, writing) = (ends[0], ends[1])
        }
    }
}
