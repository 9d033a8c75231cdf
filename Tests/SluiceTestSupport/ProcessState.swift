#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What this process holds: open descriptors and threads, as Linux tells them.
///
/// Other tests run at the same time, so that counts mean something only in a process of the test's own (an exit test).
package enum ProcessState {
    /// What is open, by descriptor: `socket:[123]`, `/tmp/file`, `pipe:[45]`.
    ///
    /// Not told are timers: Dispatch opens one for each clock that something first waits for, and keeps it.
    package static func openDescriptors(of process: String = "self") -> [String: String] {
        var open: [String: String] = [:]
        for name in entries(of: "/proc/\(process)/fd") {
            var target = [CChar](repeating: 0, count: 4096)
            let count = unsafe readlink("/proc/\(process)/fd/\(name)", &target, target.count)
            // The descriptor of the listing itself is gone by now.
            guard count >= 0 else { continue }
            let text = String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text != "anon_inode:[timerfd]" { open[name] = text }
        }
        return open
    }

    /// The threads' names.
    package static func threadNames() -> [String] {
        entries(of: "/proc/self/task").compactMap { task in
            guard let name = try? TemporaryDirectory.contents(ofFile: "/proc/self/task/\(task)/comm") else {
                return nil
            }
            return String(decoding: name.dropLast(), as: UTF8.self)
        }
    }

    /// Asks again until the condition holds, for as many seconds at most.
    package static func settles(within seconds: Double = 30, _ condition: () -> Bool) async -> Bool {
        let deadline = SuspendingClock.now + .seconds(seconds)
        while !condition() {
            if SuspendingClock.now > deadline { return false }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return true
    }

    private static func entries(of path: String) -> [String] {
        guard let directory = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe String(cString: UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }
}
