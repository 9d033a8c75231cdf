import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Other people's parsers over the same bodies, all of them in chunks of 64 KiB.
enum PeerParserRows {
    /// The programs that `make bench-peers` makes.
    static let names = ["go", "node-busboy", "python-multipart", "multipart", "streaming-form-data", "werkzeug"]

    static var all: [Row] {
        [
            row("peer-parser-file", "one part of random bytes", parts: 1) { options in
                try ParserRows.body(.random, Int(min(options.size, 256 << 20)))
            },
            row("peer-parser-cached", "one part of random bytes that the processor's cache holds", parts: 1) { _ in
                try ParserRows.body(.random, 8 << 20)
            },
            row("peer-parser-parts", "200,000 small parts", parts: 200_000) { _ in try ParserRows.manyParts() },
        ]
    }

    private static func row(
        _ name: String,
        _ what: String,
        parts: Int,
        _ makeBody: @escaping (Options) throws -> ParserRows.Body
    ) -> Row {
        Row(
            name: name,
            summary: "MultipartParser over \(what); beside it: other people's parsers, all to be left far behind",
            mark: .speedAtLeast(3)
        ) { fixture, options in
            let body = try makeBody(options)
            let path = fixture.directory + "/peers-body"
            let file = try Libc.create(path)
            defer { close(file) }
            try unsafe body.bytes.withUnsafeBytes { unsafe try Libc.writeAll(file, $0) }
            let (peers, absent) = try Peer.installed(names, [path, body.type.boundary.description], parts: parts)
            if peers.isEmpty { return .absent("no peer is installed: make bench-peers") }
            return .race(
                bytes: Int64(body.bytes.count),
                sluice: { try ParserRows.parse(body, 64 << 10, parts: parts) },
                peers: peers,
                absent: absent
            )
        }
    }
}
