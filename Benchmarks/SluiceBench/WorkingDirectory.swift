internal import CSluiceBench
internal import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Where a run of the benchmark keeps its files, and what it leaves behind: nothing, also after Ctrl-C.
///
/// The processes of the rows are ended with all that they started before the directory is removed.
enum WorkingDirectory {
    /// Written once before the handlers are set, and read by them.
    nonisolated(unsafe) private static var directory: UnsafeMutablePointer<CChar>?
    /// The process group of the row that is running; 0 where none is.
    private static let group = Atomic<Int32>(0)

    /// Linux's `__WALL`.
    private static let everyThread: Int32 = 0x4000_0000

    /// Makes the directory.
    ///
    /// - Returns: Its path.
    static func create() throws -> String {
        let base = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/sluice-bench.XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw Libc.Failure(call: "mkdtemp in \(base)", code: errno)
        }
        let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        unsafe directory = strdup(path)
        // Whoever started this may have blocked them for itself.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for number in [SIGINT, SIGTERM, SIGHUP] {
            unsafe sigaddset(&signals, number)
            signal(number) { number in
                WorkingDirectory.remove()
                _exit(128 + number)
            }
        }
        unsafe sigprocmask(SIG_UNBLOCK, &signals, nil)
        return path
    }

    /// Remembers whom to end where a signal comes.
    static func remember(group process: pid_t) {
        group.store(process, ordering: .sequentiallyConsistent)
    }

    /// Ends what is left of the remembered group: programs that the row started and did not wait for.
    static func endGroup() {
        let process = group.exchange(0, ordering: .sequentiallyConsistent)
        if process > 0 { kill(-process, SIGKILL) }
    }

    static func remove() {
        endGroup()
        // A process that is watched as it ends leaves threads that want to be waited for too; three seconds will do.
        for _ in 0..<300 where waitpid(-1, nil, WNOHANG | everyThread) >= 0 { usleep(10_000) }
        guard let path = unsafe directory else { return }
        // What has been told to end may be making a file yet.
        for _ in 0..<100 where unsafe sluice_remove_tree(path) != 0 && errno != ENOENT { usleep(10_000) }
    }
}
