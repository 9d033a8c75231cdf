#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Who may read anything, and so has to become somebody else to see what others see.
package enum Superuser {
    /// Does something as nobody, where it would be done as the superuser.
    ///
    /// All of the process is nobody meanwhile, so that it has to be one of the test's own; and it has to be itself again at
    /// its end, where LeakSanitizer looks into it.
    package static func asNobody<Result>(_ body: () async throws -> Result) async throws -> Result {
        guard geteuid() == 0 else { return try await body() }
        guard seteuid(65_534) == 0 else { throw SystemFailure("seteuid") }
        defer { seteuid(0) }
        return try await body()
    }
}
