import Foundation
import SluiceTestSupport
import Testing

/// A part as a parser that is not ours sees it.
struct ParsedPart: Decodable {
    var name: String?
    var filename: String?
    var contentType: String?
    var rawDisposition: String?
    var size: Int64?
    var sha256: String?
    var parts: [ParsedPart]?
}

/// What Tests/Interop/parse.py makes of a body, by parser: aiohttp, werkzeug and email.
///
/// Parsers that refuse the body are left out.
func parse(_ body: Data, _ contentType: String, in scratch: TemporaryDirectory) throws -> [String: [ParsedPart]] {
    struct Job: Encodable {
        var path: String
        var contentType: String
    }
    /// A list of parts, or something else that says why there is none.
    struct Parsed: Decodable {
        var parts: [ParsedPart]?

        init(from decoder: any Decoder) throws {
            parts = try? [ParsedPart](from: decoder)
        }
    }
    let file = scratch.url.appendingPathComponent("body-\(UUID().uuidString)")
    try body.write(to: file)
    let job = try JSONEncoder().encode(Job(path: file.path, contentType: contentType)) + Data("\n".utf8)
    let answer = try run(ServerProcess.python, [ServerProcess.interop("parse.py")], input: job)
    return try JSONDecoder().decode([String: Parsed].self, from: answer).compactMapValues(\.parts)
}

/// Runs a program and gives what it prints.
@discardableResult
func run(_ program: String, _ arguments: [String], input: Data = Data()) throws -> Data {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    let (standardInput, standardOutput) = (Pipe(), Pipe())
    process.standardInput = standardInput
    process.standardOutput = standardOutput
    try process.run()
    try standardInput.fileHandleForWriting.write(contentsOf: input)
    try standardInput.fileHandleForWriting.close()
    let output = try standardOutput.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(program) \(arguments) failed")
    return output
}
