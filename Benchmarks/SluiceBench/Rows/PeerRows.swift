import Sluice
import SluiceCurl

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Uploads by Sluice and by what others would use, to the same receiver.
enum PeerRows {
    /// The programs that `make bench-peers` makes.
    static let names = [
        "curl-form", "curl-mime", "go-upload", "node-upload", "requests-toolbelt", "aiohttp",
    ]

    static var all: [Row] {
        [
            Row(
                name: "peer-upload",
                summary: "CurlClient uploading one large file; beside it: other people's clients",
                mark: .unmarked
            ) { fixture, options in
                try upload([try fixture.largeFile()], bytes: options.size)
            },
            Row(
                name: "peer-upload-files",
                summary: "CurlClient uploading one form of 1,000 files of 16 KiB; beside it: other people's clients",
                mark: .unmarked
            ) { fixture, _ in
                try upload(try fixture.smallFiles(1000, of: 16 * 1024), bytes: 1000 * 16 * 1024)
            },
        ]
    }

    private static func upload(_ paths: [String], bytes: Int64) throws -> Row.Measurement {
        var form = MultipartForm()
        for path in paths { try form.addFile(name: "file", path: path) }
        let body = try form.body()
        let sink = try Sink()
        let client = CurlClient()
        // Nobody asks for leave first.
        var request = CurlRequest(url: sink.url)
        request.expectContinue = .never
        let (peers, absent) = try Peer.installed(names, [sink.url] + paths, parts: paths.count)
        if peers.isEmpty { return .absent("no peer is installed: make bench-peers") }
        return .race(
            bytes: bytes,
            sluice: { [request] in _ = try await client.upload(body, request) },
            peers: peers,
            absent: absent
        )
    }
}
