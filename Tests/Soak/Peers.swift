internal import Foundation
internal import Sluice
internal import SluiceTestSupport

/// The servers, the tool and the files that go back and forth.
final class Peers: Sendable {
    /// A file that is sent or asked for.
    struct File: Sendable {
        let name: String
        let path: String
        let content: [UInt8]
        let sha256: String
        /// The body of a form of boundary `soak` with just this file.
        let body: [UInt8]
        let bodySHA256: String
    }

    let tool: String
    let files: [File]
    let aiohttp: ServerProcess
    let nginx: ServerProcess
    let faults: ServerProcess
    /// The URL of `sluice receive`.
    let receiver: String
    let receiverProcess: String
    /// Where downloads go.
    let downloads: TemporaryDirectory
    private let receiving: ChildProcess
    private let inbox: TemporaryDirectory
    private let sources: TemporaryDirectory
    private let temporary: TemporaryDirectory

    private static let sizes = [0, 1, 1000, 65_537, 1_000_003, 8 << 20]

    init(_ tool: String, lifetime: Duration) async throws {
        self.tool = tool
        (inbox, sources) = (try TemporaryDirectory(), try TemporaryDirectory())
        (downloads, temporary) = (try TemporaryDirectory(), try TemporaryDirectory())
        let lifetime = String(Int(lifetime / .seconds(1)))
        let sources = sources
        files = try Self.sizes.enumerated().map { index, size in
            let content = TemporaryDirectory.noise(size, seed: UInt64(index) + 1)
            let path = try sources.file("f\(index)", content)
            let type = "application/octet-stream"
            let part = ReferencePart.formData(name: "file", filename: "f\(index)", type: type, content: content)
            let body = ReferenceEncoder.encode(boundary: "soak", [part])
            let encoded = try sources.file("f\(index).body", body)
            return File(
                name: "f\(index)",
                path: path,
                content: content,
                sha256: try ChildProcess.sha256(ofFile: path),
                body: body,
                bodySHA256: try ChildProcess.sha256(ofFile: encoded)
            )
        }
        aiohttp = try await .started("upload_server.py", "--files", sources.path, "--lifetime", lifetime)
        nginx = try await .started("nginx_server.py", "--lifetime", lifetime)
        faults = try await .started("fault_server.py", "--files", sources.path, "--lifetime", lifetime)
        // The receiver ends when the shell's standard input does, which is with this process.
        let script = "\"$0\" \"$@\" </dev/null 2>/dev/null & echo $!; cat >/dev/null; kill $!; wait"
        let command = [tool, "receive", "--port", "0", "--digests", "--into", inbox.path]
        receiving = try ChildProcess(["/bin/sh", "-c", script] + command)
        let lines = [receiving.readLine() ?? "", receiving.readLine() ?? ""]
        receiver = lines.first { $0.hasPrefix("http:") } ?? ""
        receiverProcess = lines.first { Int($0) != nil } ?? ""
        guard !receiver.isEmpty, !receiverProcess.isEmpty else { throw Finding("the receiver said \(lines)") }
        for file in files { try nginxFile(file.name, file.content) }
        // Only behind the directories above.
        unsafe setenv("TMPDIR", temporary.path, 1)
    }

    private func nginxFile(_ name: String, _ content: [UInt8]) throws {
        let store = "\(nginx.directory ?? "")/store"
        try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
        try Data(content).write(to: URL(filePath: "\(store)/\(name)"))
    }

    /// Takes a file that was received out of the inbox.
    func take(_ path: String) throws -> [UInt8] {
        defer { try? Files.remove(path) }
        return try TemporaryDirectory.contents(ofFile: path)
    }

    /// What was stored though nobody waited for the answer is whole; nothing else is left anywhere.
    func expectTidy() async throws {
        let manager = FileManager.default
        // The receiver may not have noticed yet that a client is gone.
        _ = await ProcessState.settles {
            ((try? manager.contentsOfDirectory(atPath: inbox.path)) ?? []).allSatisfy { !$0.hasPrefix(".") }
        }
        for name in try manager.contentsOfDirectory(atPath: inbox.path) {
            let content = try take("\(inbox.path)/\(name)")
            if !files.contains(where: { $0.content == content }) { throw Finding("\(name) of the inbox is no file") }
        }
        for directory in [downloads.path, temporary.path] {
            let left = try manager.contentsOfDirectory(atPath: directory)
            if !left.isEmpty { throw Finding("\(left) are left in \(directory)") }
        }
        // What nginx stored of uploads that were cancelled.
        for name in try manager.contentsOfDirectory(atPath: "\(nginx.directory ?? "")/bodies") {
            try? Files.remove("\(nginx.directory ?? "")/bodies/\(name)")
        }
    }
}

/// What is not as it has to be.
struct Finding: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
