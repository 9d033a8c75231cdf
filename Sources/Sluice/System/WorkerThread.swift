internal import CSluiceShims

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Threads for work that blocks, which must never run on the pool that Swift's tasks share.
package enum WorkerThread {
    /// Runs `work` on a new detached thread with every signal blocked, so that signals go to the program's own
    /// threads and a broken pipe is an error number here and not a SIGPIPE.
    ///
    /// - Parameters:
    ///   - name: What debuggers and `top -H` show; at most 15 bytes.
    ///   - work: What to run.
    /// - Throws: `Errno` where the system has no thread to give.
    package static func start(_ name: String, _ work: @escaping @Sendable () -> Void) throws(Errno) {
        #if DEBUG
        if case .failure(let error)? = SystemFaults.next("pthread_create"), error != .interrupted { throw error }
        #endif
        let box = unsafe Unmanaged.passRetained(Job(name: name, work: work))
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        // Shallow call stacks only: 512 KiB is ample, and 500 of them are not 4 GiB of address space.
        unsafe pthread_attr_setstacksize(&attributes, 512 * 1024)
        defer { unsafe pthread_attr_destroy(&attributes) }

        var all = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&all)
        // The new thread inherits the mask.
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }

        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        let status = unsafe pthread_create(&thread, &attributes, run, box.toOpaque())
        if status != 0 {
            unsafe box.release()
            throw Errno(status)
        }
    }

    private final class Job {
        let name: String
        let work: @Sendable () -> Void

        init(name: String, work: @escaping @Sendable () -> Void) {
            self.name = name
            self.work = work
        }
    }

    #if canImport(Darwin)
    private static let run: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { argument in
        let job = unsafe Unmanaged<Job>.fromOpaque(argument).takeRetainedValue()
        unsafe sluice_set_thread_name(job.name)
        job.work()
        return nil
    }
    #else
    private static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
        guard let argument = unsafe argument else { return nil }
        let job = unsafe Unmanaged<Job>.fromOpaque(argument).takeRetainedValue()
        unsafe sluice_set_thread_name(job.name)
        job.work()
        return nil
    }
    #endif
}
