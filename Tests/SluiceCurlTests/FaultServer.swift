import Foundation
import SluiceCurl
import SluiceTestSupport
import Synchronization

/// `fault_server.py`, with files to download.
final class FaultServer: Sendable {
    private let server: ServerProcess
    private let files: TemporaryDirectory
    private let lastKey = Atomic(0)

    /// The bytes of `file`, more than libcurl hands over at a time and more than a block.
    let content = TemporaryDirectory.noise(1_000_003)
    /// The bytes that are there in their place after the fault `other`.
    let other = TemporaryDirectory.noise(900_001, seed: 2)
    /// The bytes of `medium`, which are three blocks.
    let medium = TemporaryDirectory.noise(300_007, seed: 7)
    /// The bytes of `small`.
    let small = Array("just a few bytes".utf8)

    init() async throws {
        files = try TemporaryDirectory()
        try files.file("file", content)
        try files.file("file.other", other)
        try files.file("medium", medium)
        try files.file("small", small)
        try files.file("empty", [])
        server = try await ServerProcess.started("fault_server.py", "--files", files.path)
    }

    /// What the server's URLs begin with.
    var base: String { server.url("") }

    /// A place for requests that go wrong as the words say, whose requests are counted by themselves.
    func place(_ faults: String..., query: String = "") -> Place {
        let key = "k\(lastKey.add(1, ordering: .relaxed).newValue)"
        return Place(
            server: server,
            key: key,
            query: "key=\(key)&faults=\(faults.joined(separator: ","))\(query.isEmpty ? "" : "&\(query)")"
        )
    }

    struct Place {
        fileprivate let server: ServerProcess
        fileprivate let key: String
        fileprivate let query: String

        var upload: String { server.url("/upload?\(query)") }

        func file(_ name: String = "file") -> String { server.url("/files/\(name)?\(query)") }

        /// What the server was asked.
        func requests() async throws -> [Request] {
            let client = CurlClient()
            let response = try await client.download(CurlRequest(url: server.url("/requests?key=\(key)")))
            return try JSONDecoder().decode([Request].self, from: Data(response.body))
        }
    }

    struct Request: Decodable {
        let method: String
        let range: String?
        let ifRange: String?
        let size: Int
    }
}

/// What a server of these tests says of an upload.
struct Received: Decodable {
    let size: Int
    let sha256: String
    let attempt: Int

    init(_ response: CurlResponse) throws {
        self = try JSONDecoder().decode(Received.self, from: Data(response.body))
    }
}

extension RetryPolicy {
    /// Attempts that follow each other at once.
    static func quick(_ attempts: Int) -> RetryPolicy {
        var policy = RetryPolicy(maximumAttempts: attempts)
        policy.baseDelay = .milliseconds(1)
        policy.maximumDelay = .milliseconds(5)
        return policy
    }
}

/// Notices as they come.
final class Notices: Sendable {
    private let notices = Mutex<[RetryNotice]>([])

    func add(_ notice: RetryNotice) { notices.withLock { $0.append(notice) } }

    var all: [RetryNotice] { notices.withLock { $0 } }
}
