#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// State under a lock that threads can also wait on.
///
/// The standard library's `Mutex` has no condition variable; this is a pthread mutex and condition of one's own,
/// for the few places where a plain thread must sleep until another one has something for it.
// @unchecked Sendable: `state` is touched only between lock and unlock of `mutex`.
// @safe: the two pointers are allocated in `init`, freed in `deinit`, and never leave the class.
@safe
package final class Monitor<State>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var state: State

    package init(_ state: sending State) {
        self.state = state
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe condition.initialize(to: pthread_cond_t())
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(condition, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Runs `body` with the state to itself, then wakes every waiting thread.
    package func update<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer {
            unsafe pthread_cond_broadcast(condition)
            unsafe pthread_mutex_unlock(mutex)
        }
        return body(&state)
    }

    /// Sleeps until `body` gives a value; it runs with the state to itself, at first and after each update.
    package func wait<Result: Sendable>(_ body: (inout State) -> Result?) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer {
            unsafe pthread_cond_broadcast(condition)
            unsafe pthread_mutex_unlock(mutex)
        }
        while true {
            if let result = body(&state) { return result }
            unsafe pthread_cond_wait(condition, mutex)
        }
    }
}
