import Foundation

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
    /// Whether it starts another program for each run, so that its own memory says nothing.
    private let isScript: Bool
    private let child: PipedChild

    private let parts: Int

    /// - Parameters:
    ///   - name: What `make bench-peers` calls it.
    ///   - arguments: What it is started with.
    ///   - parts: How many parts it has to say that it found or sent.
    /// - Throws: The system's error where it cannot be started. It is nil where it is not installed.
    init?(_ name: String, _ arguments: [String], parts: Int) throws {
        guard let path = Self.path(name) else { return nil }
        self.name = name
        self.parts = parts
        isScript = name == "curl-form"
        child = try PipedChild(path, arguments)
    }

    /// Does the work once.
    func run() throws {
        try child.send("")
        guard let line = try child.nextLine() else {
            throw JobProcess.Failure(description: "\(name) ended: its messages are above")
        }
        guard try JSONDecoder().decode(Answer.self, from: Data(line.utf8)).parts == parts else {
            throw JobProcess.Failure(description: "\(name) did not do all: it says \(line)")
        }
    }

    private struct Answer: Decodable {
        let parts: Int
    }

    /// Starts those that are installed, and names those that are not.
    static func installed(
        _ names: [String],
        _ arguments: [String],
        parts: Int
    ) throws -> (peers: [Peer], absent: [String]) {
        var peers: [Peer] = []
        var absent: [String] = []
        for name in names {
            if let peer = try Peer(name, arguments, parts: parts) { peers.append(peer) } else { absent.append(name) }
        }
        return (peers, absent)
    }

    /// The most memory that it has had, in MiB; nil where it is not known.
    var peakMebibytes: Double? { isScript ? nil : child.process.peakMebibytes }

    /// Where `make bench-peers` has put it; nil where it has not.
    static func path(_ name: String) -> String? {
        // The benchmark is in .build/<configuration>, and may be found through a link to it.
        let places = [try? Child.besideThis("../peers/\(name)"), try? Child.besideThis("../../peers/\(name)")]
        return places.compactMap { $0 }.first { unsafe access($0, X_OK) == 0 }
    }
}
