import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Other languages' parsers, over the same bodies in the same run.
///
/// A peer is a program in `Benchmarks/Peers`. It is started with the path of a body, the boundary, a chunk size and a
/// number of rounds, reads the body into memory, parses it so often in chunks of that size, and prints the seconds of the
/// fastest round on a line of its own.
enum ParserPeers {
    private struct Peer {
        let name: String
        /// The program, and what stands before the peer's own arguments.
        let command: [String]
    }

    static var rows: [Row] {
        [
            row("parser-peers-file", "one part of random bytes", rounds: 3) { options in
                try ParserRows.body(.random, Int(min(options.size, 256 << 20)))
            },
            row("parser-peers-parts", "200,000 small parts", parts: 200_000, rounds: 1) { _ in
                try ParserRows.manyParts()
            },
        ]
    }

    private static func row(
        _ name: String,
        _ what: String,
        parts: Int = 1,
        rounds: Int,
        _ makeBody: @escaping (Options) throws -> ParserRows.Body
    ) -> Row {
        Row(
            name: name,
            summary: "\(what) in chunks of 64 KiB; limit: the fastest of other languages' parsers",
            mark: .valueAtLeast(3, "times")
        ) { fixture, options in
            let peers = installed()
            guard !peers.isEmpty else { return .absent("no peer is installed; see Benchmarks/Peers") }
            let body = try makeBody(options)
            let path = fixture.directory + "/peers-body"
            let file = try Libc.create(path)
            try unsafe body.bytes.withUnsafeBytes { unsafe try Libc.writeAll(file, $0) }
            close(file)
            defer { unsafe unlink(path) }
            var ours = Double.infinity
            for _ in 0...rounds {
                let start = Libc.seconds()
                try ParserRows.parse(body, 64 << 10, parts: parts)
                ours = min(ours, Libc.seconds() - start)
            }
            var fastest = Double.infinity
            var details: [String] = []
            for peer in peers {
                do {
                    let arguments = [path, body.type.boundary.description, "\(64 << 10)", "\(rounds)"]
                    let seconds = try time(peer, arguments, fixture.directory + "/peers-output")
                    fastest = min(fastest, seconds)
                    details.append("\(peer.name) \(format(seconds / ours)) times the time")
                } catch {
                    details.append("\(peer.name) absent (\(error))")
                }
            }
            guard fastest.isFinite else { return .absent(details.joined(separator: ", ")) }
            return .value(fastest / ours, details: details.joined(separator: ", "))
        }
    }

    /// What is there of `Benchmarks/Peers`: programs that were built, and scripts whose interpreter is installed.
    private static func installed() -> [Peer] {
        var peers: [Peer] = []
        for name in ["go-multipart"] where unsafe access(".build/peers/\(name)", X_OK) == 0 {
            peers.append(Peer(name: name, command: [".build/peers/\(name)"]))
        }
        let python = ".build/venv/bin/python"
        for name in ["python_multipart", "defnull_multipart", "streaming_form_data"]
        where unsafe access(python, X_OK) == 0 && access("Benchmarks/Peers/\(name).py", R_OK) == 0 {
            peers.append(Peer(name: name, command: [python, "Benchmarks/Peers/\(name).py"]))
        }
        if let node = Child.onPath("node"), unsafe access("Benchmarks/Peers/node.mjs", R_OK) == 0 {
            peers.append(Peer(name: "node", command: [node, "Benchmarks/Peers/node.mjs"]))
        }
        return peers
    }

    private static func time(_ peer: Peer, _ arguments: [String], _ outputPath: String) throws -> Double {
        let output = try Libc.create(outputPath)
        defer {
            close(output)
            unsafe unlink(outputPath)
        }
        let child = try Child(peer.command[0], peer.command.dropFirst() + arguments, output: output)
        try child.wait()
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = try Libc.check("pread", unsafe pread(output, &bytes, bytes.count, 0))
        let lines = String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n")
        guard let seconds = lines.last.flatMap({ Double($0) }), seconds > 0 else {
            throw ParserRows.Problem(description: "it printed no time")
        }
        return seconds
    }
}
