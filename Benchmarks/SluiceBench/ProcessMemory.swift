#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A process's resident memory, as Linux tells it.
enum ProcessMemory {
    /// What it has now, and the most that it has had, in MiB; nil where the system does not say.
    static func resident(of process: String = "self") -> (now: Double, peak: Double)? {
        guard let text = try? Libc.contents("/proc/\(process)/status") else { return nil }
        var values: [Substring: Double] = [:]
        for line in text.split(separator: "\n") where line.hasPrefix("VmHWM:") || line.hasPrefix("VmRSS:") {
            values[line.prefix(5)] = Double(line.filter(\.isNumber)).map { $0 / 1024 }
        }
        guard let now = values["VmRSS"], let peak = values["VmHWM"] else { return nil }
        return (now, peak)
    }

    /// Makes what this process has now the most that it has had.
    static func forgetPeak() {
        guard let file = try? Libc.check("open", unsafe open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)) else {
            return
        }
        defer { close(file) }
        try? unsafe Array("5".utf8).withUnsafeBytes { unsafe try Libc.writeAll(file, $0) }
    }
}
