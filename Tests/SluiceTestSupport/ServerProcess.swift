import Foundation

/// A server of `Tests/Interop`, running for as long as this object lives.
///
/// The server ends when its standard input does, so it ends with a test process that crashes, too.
package final class ServerProcess: Sendable {
    /// What the server said when it was ready.
    package let http: Int
    package let https: Int?
    package let unix: String?
    package let directory: String?

    private let child: ChildProcess

    /// The package's root.
    package static let packageRoot = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// The Python that has what the servers need.
    package static let python = "\(packageRoot)/.build/venv/bin/python"

    /// The path of a file in `Tests/Interop`.
    package static func interop(_ name: String) -> String { "\(packageRoot)/Tests/Interop/\(name)" }

    private struct Ready: Decodable {
        let http: Int
        let https: Int?
        let unix: String?
        let directory: String?
    }

    /// Starts a server and waits until it accepts connections.
    package convenience init(_ script: String, _ arguments: String...) throws {
        try self.init(script, arguments)
    }

    /// Starts a server without blocking a thread of the pool that tasks share, which other tests need meanwhile.
    package static func started(_ script: String, _ arguments: String...) async throws -> ServerProcess {
        try await onThread { try ServerProcess(script, arguments) }
    }

    private init(_ script: String, _ arguments: [String]) throws {
        child = try ChildProcess([Self.python, Self.interop(script), "--lifetime", "900"] + arguments)
        guard let line = child.readLine() else { throw ChildProcess.Failure("\(script) printed no ready line") }
        let ready = try JSONDecoder().decode(Ready.self, from: Data(line.utf8))
        http = ready.http
        https = ready.https
        unix = ready.unix
        directory = ready.directory
    }

    /// A URL of the server.
    package func url(_ path: String, host: String = "127.0.0.1") -> String { "http://\(host):\(http)\(path)" }

    /// A URL of the server's TLS port.
    package func secureURL(_ path: String, host: String = "127.0.0.1") -> String {
        "https://\(host):\(https ?? 0)\(path)"
    }
}
