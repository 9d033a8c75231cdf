/// Gzip members as others see them: gzip(1) and Python's zlib.
package enum Gunzip {
    package enum Tool: String, CaseIterable, Sendable {
        case gzip, python
    }

    /// Decompresses with each tool, which checks checksums and lengths, and refuses anything behind the member.
    ///
    /// - Parameters:
    ///   - members: What to decompress, each for itself.
    ///   - tool: By what.
    /// - Returns: For each member the bytes that came of it, nil where the tool refused it.
    /// - Throws: Where the tool does not start.
    package static func decompress(_ members: [[UInt8]], by tool: Tool = .gzip) async throws -> [[UInt8]?] {
        try await onThread {
            let directory = try TemporaryDirectory()
            for (number, member) in members.enumerated() { try directory.file("\(number).gz", member) }
            let script =
                switch tool {
                case .gzip:
                    """
                    cd "$0" && for f in *.gz; do gzip -t "$f" && gzip -dc "$f" > tmp && mv tmp "$f.out"; done 2>&1
                    """
                case .python: #"cd "$0" && python3 -c "$1" *.gz 2>&1"#
                }
            let output = try ChildProcess(["/bin/sh", "-c", script + "; echo done", directory.path, python]).readLine()
            let contents = members.indices.map { number in
                try? TemporaryDirectory.contents(ofFile: "\(directory.path)/\(number).gz.out")
            }
            guard output == "done" || contents.contains(nil) else {
                throw ChildProcess.Failure("\(tool): \(output ?? "")")
            }
            return contents
        }
    }

    private static let python = """
        import sys, zlib
        for name in sys.argv[1:]:
            data = open(name, "rb").read()
            member = zlib.decompressobj(31)
            try:
                content = member.decompress(data) + member.flush()
            except zlib.error:
                continue
            if member.eof and not member.unused_data:
                open(name + ".out", "wb").write(content)
        """
}
