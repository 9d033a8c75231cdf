/// The few threads on which files are written, so that a slow disk holds up neither a network nor a task.
///
/// There is one for each file that is being written, four at most, and none where no file is.
package final class DiskThreads: Sendable {
    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var files = 0
        var threads = 0

        var wantedThreads: Int { min(files, DiskThreads.most) }
    }

    private enum Step: Sendable {
        case run(@Sendable () -> Void)
        case end
    }

    private static let most = 4

    private let state = Monitor(State())

    package init() {}

    /// Counts a file in, which must be counted out by ``endFile()``.
    ///
    /// - Throws: Where there is no thread to be had, and none that the file could wait for.
    package func beginFile() throws(Errno) {
        // The thread must not keep this object alive, which says nothing to it.
        let state = state
        // Under the lock: a thread that another file counts on must be one that has started.
        let outcome = state.update { known -> Result<Void, Errno> in
            known.files += 1
            guard known.threads < known.wantedThreads else { return .success(()) }
            do throws(Errno) {
                try WorkerThread.start("sluice-disk") { Self.work(state) }
                known.threads += 1
            } catch {
                if known.threads == 0 {
                    known.files -= 1
                    return .failure(error)
                }
            }
            return .success(())
        }
        try outcome.get()
    }

    /// Counts a file out, behind its last job.
    package func endFile() {
        state.update { $0.files -= 1 }
    }

    /// Runs a job behind those that are waiting.
    package func run(_ job: @escaping @Sendable () -> Void) {
        state.update { $0.jobs.append(job) }
    }

    /// Whether there are no threads, and no jobs for any.
    package var isIdle: Bool { state.update { $0.threads == 0 && $0.jobs.isEmpty } }

    private static func work(_ state: Monitor<State>) {
        while true {
            let step = state.wait { state -> Step? in
                if !state.jobs.isEmpty { return .run(state.jobs.removeFirst()) }
                guard state.threads > state.wantedThreads else { return nil }
                state.threads -= 1
                return .end
            }
            switch step {
            case .run(let job): job()
            case .end: return
            }
        }
    }
}
