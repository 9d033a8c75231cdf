#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Somebody else's program that does what a row's Sluice side does; `Benchmarks/Peers/README.md` has the protocol.
///
/// It is started once, and told by a line to do the work again, so that neither its start nor what its runtime
/// compiles on the way is measured.
final class Peer {
    let name: String
    private let child: PipedChild

    /// - Returns: nil where it is not installed.
    init?(_ name: String, _ arguments: [String]) throws {
        guard let path = Self.path(name) else { return nil }
        self.name = name
        child = try PipedChild(path, arguments)
    }

    /// Does the work once.
    func run() throws {
        try child.send("")
        guard try child.nextLine() != nil else {
            throw JobProcess.Failure(description: "\(name) ended: its messages are above")
        }
    }

    /// The most memory that it has had, in MiB.
    var peakMebibytes: Double? { child.process.peakMebibytes }

    /// Where `make bench-peers` has put it; nil where it has not.
    static func path(_ name: String) -> String? {
        // The benchmark is in .build/<configuration>, and may be found through a link to it.
        let places = [try? Child.besideThis("../peers/\(name)"), try? Child.besideThis("../../peers/\(name)")]
        return places.compactMap { $0 }.first { unsafe access($0, X_OK) == 0 }
    }
}
