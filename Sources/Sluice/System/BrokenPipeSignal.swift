#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Runs `body` so that a write to a closed pipe or socket fails with EPIPE and does not end the process.
///
/// `sendfile` and `splice` take no flag for it, and a library must not change the process's signal handlers: so
/// SIGPIPE is blocked on this thread only, and one that `body` raised is taken off before it is unblocked.
func withoutBrokenPipeSignal<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    var pipe = sigset_t()
    var before = sigset_t()
    var pending = sigset_t()
    unsafe sigemptyset(&pipe)
    unsafe sigaddset(&pipe, SIGPIPE)
    unsafe sigpending(&pending)
    let wasPending = unsafe sigismember(&pending, SIGPIPE) == 1
    unsafe pthread_sigmask(SIG_BLOCK, &pipe, &before)
    defer {
        if !wasPending { takePending(pipe) }
        unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
    }
    return try body()
}

/// Takes a signal of the set off this thread, without waiting for one.
private func takePending(_ set: sigset_t) {
    var set = set
    #if os(Linux)
    var immediately = timespec()
    unsafe sigtimedwait(&set, nil, &immediately)
    #else
    var pending = sigset_t()
    unsafe sigpending(&pending)
    if unsafe sigismember(&pending, SIGPIPE) == 1 {
        var signal: Int32 = 0
        unsafe sigwait(&set, &signal)
    }
    #endif
}
