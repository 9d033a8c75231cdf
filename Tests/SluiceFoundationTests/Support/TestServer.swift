import Foundation
import Testing

/// One of the servers of Tests/Interop, which lives as long as this object.
final class TestServer: Sendable {
    let port: Int
    private let process: Process
    private let lifeline: Pipe

    init(_ script: String, _ arguments: [String] = []) throws {
        struct Ready: Decodable { var http: Int }
        process = Process()
        lifeline = Pipe()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: Repository.python)
        process.arguments = [Repository.interop(script)] + arguments
        process.standardInput = lifeline
        process.standardOutput = output
        try process.run()
        var line = Data()
        while line.last != UInt8(ascii: "\n"), let byte = try output.fileHandleForReading.read(upToCount: 1),
            !byte.isEmpty
        {
            line += byte
        }
        port = try JSONDecoder().decode(Ready.self, from: line).http
    }

    deinit {
        process.terminate()
    }

    func url(_ path: String) throws -> URL {
        try #require(URL(string: "http://127.0.0.1:\(port)\(path)"))
    }
}
