internal import CSluiceShims

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension SystemCalls {
    /// Where temporary files go: `TMPDIR`, else `/tmp`.
    static var temporaryDirectory: String {
        guard let path = unsafe getenv("TMPDIR").map({ unsafe String(cString: $0) }), !path.isEmpty else {
            return "/tmp"
        }
        return path
    }

    /// A file without a name, open for reading and writing, that goes with its descriptor.
    static func openTemporaryFile(in directory: String) throws(Errno) -> Int32 {
        try retrying { unsafe sluice_open_temporary_file(directory) }
    }

    /// The cores that the scheduler may put this process on; at least one.
    static var coresByAffinity: Int {
        max(Int(sluice_core_count()), 1)
    }
}
