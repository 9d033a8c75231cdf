import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What was being received when a process was killed, which had no chance to take it away.
enum StagingLeftovers {
    /// Takes away the staging directories of processes that are no more.
    ///
    /// Those of others stay, and so do those in which there may be what somebody had before.
    ///
    /// - Parameter inbox: Where they are.
    /// - Returns: How many there were.
    static func remove(from inbox: Inbox) -> Int {
        names(in: inbox.descriptor) { $0.hasPrefix(StagingDirectory.prefixOfNew) }
            .count { remove($0, from: inbox.descriptor) }
    }

    private static func remove(_ name: String, from inbox: Int32) -> Bool {
        guard let directory = try? SystemCalls.openDirectory(name, in: inbox, followingLinks: false) else {
            return false
        }
        defer { SystemCalls.close(directory) }
        guard (try? SystemCalls.details(of: directory))?.user == geteuid(),
            // Whoever writes there has it locked, and the system lets go of the lock when that process ends.
            (try? SystemCalls.lock(directory)) == true
        else { return false }
        for file in names(in: directory, where: StagingDirectory.isNameOfNew) {
            unsafe unlinkat(directory, file, 0)
        }
        return unsafe unlinkat(inbox, name, AT_REMOVEDIR) == 0
    }

    /// The names in a directory that are of interest, as far as they are texts; none where it cannot be read.
    private static func names(in directory: Int32, where isOfInterest: (String) -> Bool) -> [String] {
        // Another one, since a descriptor that was read through once stands at its end.
        guard let descriptor = try? SystemCalls.openDirectory(".", in: directory, followingLinks: false) else {
            return []
        }
        guard let stream = unsafe fdopendir(descriptor) else {
            SystemCalls.close(descriptor)
            return []
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let name, isOfInterest(name) { names.append(name) }
        }
        return names
    }
}
