import Foundation
package import Sluice

/// A part as somebody else's parser sees it; what its fields mean is at the top of `Tests/Interop/parse.py`.
package struct ForeignPart: Decodable, Sendable {
    package let name: String?
    package let filename: String?
    package let contentType: String?
    package let rawDisposition: String?
    package let headers: [[String]]
    package let size: Int?
    package let sha256: String?
    package let decodedSize: Int?
    package let decodedSha256: String?
    package let parts: [ForeignPart]?
}

/// The parsers of `Tests/Interop/parse.py`: aiohttp's, werkzeug's, and that of Python's email package.
package enum ForeignParsers {
    package enum Parser: String, CaseIterable, Sendable {
        case aiohttp, werkzeug, email
    }

    /// What a parser made of a body.
    package enum Outcome: Decodable, Sendable {
        case parts([ForeignPart])
        case error(String)

        package init(from decoder: any Decoder) throws {
            if let parts = try? decoder.singleValueContainer().decode([ForeignPart].self) {
                self = .parts(parts)
            } else {
                self = .error(try decoder.singleValueContainer().decode([String: String].self)["error"] ?? "")
            }
        }

        /// The parts; none where there was an error.
        package var parts: [ForeignPart]? {
            if case .parts(let parts) = self { parts } else { nil }
        }
    }

    private struct Job: Encodable {
        let path: String
        let contentType: String
    }

    /// Writes the bodies to files and has all parsers read them.
    ///
    /// - Parameter bodies: The bodies.
    /// - Returns: For each body, what each parser made of it.
    /// - Throws: Where a body cannot be written, or the parsers do not start.
    package static func parse(_ bodies: [MultipartBody]) async throws -> [[Parser: Outcome]] {
        try await onThread {
            let directory = try TemporaryDirectory()
            var jobs: [UInt8] = []
            for (number, body) in bodies.enumerated() {
                let path = try directory.file("body\(number)", [])
                let target = try Files.descriptor(of: path, 1)
                defer { Files.close(target) }
                try body.write(to: target)
                jobs += Array(try JSONEncoder().encode(Job(path: path, contentType: body.contentType))) + [10]
            }
            let script = ServerProcess.interop("parse.py")
            let input = try directory.file("jobs", jobs)
            try run("\"$0\" \"$1\" < \"$2\" > \"$2.out\"", ServerProcess.python, script, input)
            let lines = try TemporaryDirectory.contents(ofFile: "\(input).out").split(separator: 10)
            guard lines.count == bodies.count else {
                throw SystemFailure("the parsers gave \(lines.count) answers of \(bodies.count); run `make venv`")
            }
            return try lines.map { line in
                let outcomes = try JSONDecoder().decode([String: Outcome].self, from: Data(line))
                return Dictionary(
                    uniqueKeysWithValues: outcomes.compactMap { name, outcome in
                        Parser(rawValue: name).map { ($0, outcome) }
                    }
                )
            }
        }
    }

    /// The SHA-256 of each of these contents, by `sha256sum`.
    package static func sha256(of contents: [[UInt8]]) async throws -> [String] {
        try await onThread {
            let directory = try TemporaryDirectory()
            for (number, content) in contents.enumerated() {
                // Names that sort by number.
                try directory.file(String(String(number + 1_000_000).dropFirst()), content)
            }
            try run("cd \"$0\" && ls | xargs sha256sum > \"$0.sums\" && mv \"$0.sums\" sums", directory.path)
            let sums = try TemporaryDirectory.contents(ofFile: "\(directory.path)/sums")
            return sums.split(separator: 10).map { String(decoding: $0.prefix(64), as: UTF8.self) }
        }
    }

    /// Runs a shell's script to its end.
    private static func run(_ script: String, _ arguments: String...) throws {
        // The child's own output ends with it, so that this waits for it.
        _ = try ChildProcess(["/bin/sh", "-c", script] + arguments).readLine()
    }
}
