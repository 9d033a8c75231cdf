#if DEBUG
internal import Synchronization

/// Makes chosen system calls of this process fail or move fewer bytes: how tests reach what a healthy system never does.
///
/// It is behind every call of ``SystemCalls`` and holds for the whole process, so that a test uses it in a process
/// of its own. Release builds have none of it.
package enum SystemFaults {
    /// What becomes of a call.
    package enum Fault: Sendable, Hashable {
        /// It is not made, and fails with this error.
        case failure(Errno)
        /// It is asked for no more than so many bytes; calls that move none are made as they are.
        case short(Int)
    }

    /// Which calls fail, and how.
    package struct Plan: Sendable {
        /// The first call that fails, from 1 on; 0 where it is ``functions`` that say which do.
        package let call: Int
        /// How it fails.
        package let fault: Fault
        /// Whether all later ones of the same kind fail as well.
        package let staysBroken: Bool
        /// The functions of `SystemCalls` all of whose calls fail, without their arguments, as in `rename`.
        package let functions: Set<String>

        package init(call: Int, _ fault: Fault, staysBroken: Bool = false) {
            self.call = call
            self.fault = fault
            self.staysBroken = staysBroken
            functions = []
        }

        package init(functions: Set<String>, _ fault: Fault) {
            call = 0
            self.fault = fault
            staysBroken = true
            self.functions = functions
        }
    }

    private struct State {
        var plan: Plan?
        var calls: [String] = []
        /// The function of ``SystemCalls`` whose call was the first to fail.
        var hit: String?
    }

    /// What happened while a plan was in force.
    package struct Report: Sendable {
        /// The functions of `SystemCalls` that made the calls, in order, those that failed among them.
        package let calls: [String]
        /// The function of `SystemCalls` that failed first; nil where the plan's call was never reached.
        package let hit: String?
    }

    private static let state = Mutex(State())
    private static let isArmed = Atomic(false)

    /// Puts a plan in force and starts to count from 0.
    ///
    /// - Parameter plan: The plan; nil to count only.
    package static func arm(_ plan: Plan?) {
        state.withLock { $0 = State(plan: plan) }
        isArmed.store(true, ordering: .sequentiallyConsistent)
    }

    /// Ends the plan.
    package static func disarm() -> Report {
        isArmed.store(false, ordering: .sequentiallyConsistent)
        return state.withLock { Report(calls: $0.calls, hit: $0.hit) }
    }

    /// What is to become of the call that `function` is about to make.
    static func next(_ function: StaticString) -> Fault? {
        guard isArmed.load(ordering: .relaxed) else { return nil }
        return state.withLock { state in
            let name = "\(function)"
            state.calls.append(name)
            guard let plan = state.plan else { return nil }
            if plan.functions.contains(String(name.prefix { $0 != "(" })) {
                state.hit = name
                return plan.fault
            }
            if state.calls.count == plan.call { state.hit = name }
            let isHit = state.calls.count == plan.call || plan.staysBroken && state.hit == name
            return isHit ? plan.fault : nil
        }
    }
}
#endif
