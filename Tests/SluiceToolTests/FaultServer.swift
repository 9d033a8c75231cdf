import SluiceTestSupport
import Synchronization

/// `fault_server.py` with a file, which goes wrong as a test asks.
final class FaultServer: Sendable {
    private let server: ServerProcess
    private let files: TemporaryDirectory
    private let lastKey = Atomic(0)

    /// The bytes of the file.
    let content = TemporaryDirectory.noise(1_000_003)
    /// The bytes that are there in their place after the fault `other`.
    let other = TemporaryDirectory.noise(900_001, seed: 2)

    init() async throws {
        files = try TemporaryDirectory()
        try files.file("file", content)
        try files.file("file.other", other)
        server = try await ServerProcess.started("fault_server.py", "--files", files.path)
    }

    /// The SHA-256 of the file, as `sha256sum` has it.
    func sha256() throws -> String { try ChildProcess.sha256(ofFile: "\(files.path)/file") }

    /// A place where requests go wrong as the words say, and are counted by themselves.
    func place(_ faults: String..., query: String = "") -> Place {
        let key = "k\(lastKey.add(1, ordering: .relaxed).newValue)"
        return Place(server: server, key: key, query: "key=\(key)&faults=\(faults.joined(separator: ","))\(query)")
    }

    struct Place {
        fileprivate let server: ServerProcess
        fileprivate let key: String
        fileprivate let query: String

        var file: String { server.url("/files/file?\(query)") }
        var upload: String { server.url("/upload?\(query)") }

        /// What the server was asked.
        func requests() async throws -> [JSONValue] {
            let run = try await ToolProcess(["curl", "-sS", server.url("/requests?key=\(key)")]).outcome()
            return try JSONValue(run.output).array
        }
    }
}

extension TemporaryDirectory {
    /// The names of what is in it, in order.
    var names: [String] {
        get throws {
            try Files.names(in: path)
        }
    }
}
