#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// How many cores the process may keep busy.
///
/// A container often sees all of a machine's cores and may use the time of two: threads beyond that only wait for each
/// other.
enum AvailableCores {
    /// The cores by affinity, and no more than the cgroup's quota pays for; at least one.
    ///
    /// They are asked for once.
    static let count = max(min(SystemCalls.coresByAffinity, quota(in: "/") ?? .max), 1)

    /// The cores that the quota of the process's cgroup and of those around it come to, rounded up.
    ///
    /// - Parameter root: The file system's root, ending in a slash.
    /// - Returns: The number, nil where there is no quota.
    static func quota(in root: String) -> Int? {
        guard let groups = SystemCalls.text(ofSmallFile: "\(root)proc/self/cgroup") else { return nil }
        return groups.split(separator: "\n").compactMap { line -> Int? in
            // hierarchy:controllers:path, where version 2 has neither number nor controllers (cgroups(7)).
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { return nil }
            if fields[0] == "0", fields[1].isEmpty {
                return least(from: String(fields[2]), below: "\(root)sys/fs/cgroup", quotaOfVersion2)
            }
            guard fields[1].split(separator: ",").contains("cpu") else { return nil }
            // Where the hierarchy is mounted by its controllers' names, or by a link of one of them.
            return ["\(fields[1])", "cpu"].compactMap { name in
                least(from: String(fields[2]), below: "\(root)sys/fs/cgroup/\(name)", quotaOfVersion1)
            }.min()
        }.min()
    }

    /// The least quota of a group and those above it.
    ///
    /// Within a container the path may be the host's, and not be there.
    private static func least(from path: String, below mount: String, _ quota: (String) -> Int?) -> Int? {
        var components = path.split(separator: "/").filter { $0 != ".." }
        var found: [Int] = []
        while true {
            if let cores = quota(([mount] + components.map(String.init)).joined(separator: "/")) { found.append(cores) }
            if components.popLast() == nil { return found.min() }
        }
    }

    /// `cpu.max` is the quota, or `max`, and the period, both in microseconds.
    private static func quotaOfVersion2(_ directory: String) -> Int? {
        let words = SystemCalls.text(ofSmallFile: "\(directory)/cpu.max")?.split { $0 == " " || $0 == "\n" } ?? []
        guard words.count == 2 else { return nil }
        return cores(quota: words[0], period: words[1])
    }

    private static func quotaOfVersion1(_ directory: String) -> Int? {
        let words = ["quota", "period"].compactMap {
            SystemCalls.text(ofSmallFile: "\(directory)/cpu.cfs_\($0)_us")?.split(separator: "\n").first
        }
        guard words.count == 2 else { return nil }
        return cores(quota: words[0], period: words[1])
    }

    private static func cores(quota: Substring, period: Substring) -> Int? {
        guard let quota = Int64(quota), let period = Int64(period), quota > 0, period > 0 else { return nil }
        return Int(clamping: (quota - 1) / period + 1)
    }
}
