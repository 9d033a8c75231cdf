import Sluice
import SluiceCurl
internal import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Downloads over HTTP on loopback, from a sender in another process.
enum DownloadRows {
    static var all: [Row] {
        [
            Row(
                name: "download-libcurl",
                summary: "CurlClient downloading one large file; limit: `curl -o`",
                mark: .timeAtMost(1)
            ) { fixture, options in
                guard let curl = Child.onPath("curl") else { return .absent("curl is not installed") }
                let sink = try Sink()
                let client = CurlClient()
                let path = "\(options.size)"
                let target = fixture.directory + "/download"
                return .paired(
                    bytes: options.size,
                    sluice: {
                        // Both make a new file, so that neither has to free what the other one wrote.
                        unsafe unlink(target)
                        _ = try await client.download(CurlRequest(url: sink.url + path), toFile: target)
                    },
                    limits: [
                        (
                            "curl -o",
                            {
                                unsafe unlink(target)
                                try Child(curl, ["-s", "-o", target, sink.url + path], output: "/dev/null").wait()
                            }
                        )
                    ]
                )
            },
            Row(
                name: "download-sha256",
                summary: "the same with its SHA-256 checked; limit: `curl -o` and then `sha256sum`",
                mark: .timeAtMost(1),
                isCountedInShortSet: false
            ) { fixture, options in
                guard let curl = Child.onPath("curl"), let sha256sum = Child.onPath("sha256sum") else {
                    return .absent("curl or sha256sum is not installed")
                }
                let sink = try Sink()
                let client = CurlClient()
                let path = "\(options.size)"
                let target = fixture.directory + "/download"
                var checks = FileDownloadOptions()
                checks.sha256 = try await digest(of: sink.url + path, client, sha256sum, target)
                return .paired(
                    bytes: options.size,
                    sluice: { [checks] in
                        unsafe unlink(target)
                        _ = try await client.download(
                            CurlRequest(url: sink.url + path),
                            toFile: target,
                            options: checks
                        )
                    },
                    limits: [
                        (
                            "curl -o; sha256sum",
                            {
                                unsafe unlink(target)
                                try Child(curl, ["-s", "-o", target, sink.url + path], output: "/dev/null").wait()
                                try Child(sha256sum, [target], output: "/dev/null").wait()
                            }
                        )
                    ]
                )
            },
            Row(
                name: "download-chunks",
                summary: "CurlClient downloading in chunks that are dropped; limit: curl to /dev/null",
                mark: .timeAtMost(1)
            ) { _, options in
                guard let curl = Child.onPath("curl") else { return .absent("curl is not installed") }
                let sink = try Sink()
                let client = CurlClient()
                let path = "\(options.size)"
                return .paired(
                    bytes: options.size,
                    // As a server's handler runs: not on the main thread, which each chunk would wake up.
                    sluice: { @concurrent in
                        var count: Int64 = 0
                        for try await chunk in try await client.downloadChunks(CurlRequest(url: sink.url + path)).chunks
                        {
                            count += Int64(chunk.count)
                        }
                        try Libc.check("chunks", count == options.size ? 0 : -1)
                    },
                    limits: [
                        (
                            "curl -o /dev/null",
                            { try Child(curl, ["-s", "-o", "/dev/null", sink.url + path], output: "/dev/null").wait() }
                        )
                    ]
                )
            },
            Row(
                name: "rss-tool-download",
                summary: "peak memory of `sluice download` of one large file",
                mark: .valueAtMost(20, "MiB")
            ) { fixture, options in
                let tool = try Child.besideThis("sluice")
                guard unsafe access(tool, X_OK) == 0 else { return .absent("build the product sluice first") }
                let sink = try Sink()
                let target = fixture.directory + "/download"
                let url = "\(sink.url)\(options.size)"
                let peak = try MemoryRows.peak(of: tool, ["download", url, "-o", target, "--progress", "none"])
                return withExtendedLifetime(sink) { .value(peak, details: "\(options.mebibytes) MiB") }
            },
            Row(
                name: "download-tool",
                summary: "`sluice download` of one large file as a process; limit: `curl -o`",
                mark: .timeAtMost(1)
            ) { fixture, options in
                let tool = try Child.besideThis("sluice")
                guard unsafe access(tool, X_OK) == 0 else { return .absent("build the product sluice first") }
                guard let curl = Child.onPath("curl") else { return .absent("curl is not installed") }
                let sink = try Sink()
                let path = "\(options.size)"
                let target = fixture.directory + "/download"
                func run(_ program: String, _ arguments: [String]) throws {
                    unsafe unlink(target)
                    try Child(program, arguments, output: "/dev/null").wait()
                }
                return .paired(
                    bytes: options.size,
                    sluice: { try run(tool, ["download", sink.url + path, "-o", target, "--progress", "none"]) },
                    limits: [("curl -o", { try run(curl, ["-s", "-o", target, sink.url + path]) })]
                )
            },
        ]
    }

    /// The digest that `sha256sum` gives.
    private static func digest(
        of url: String,
        _ client: CurlClient,
        _ sha256sum: String,
        _ target: String
    ) async throws -> String {
        _ = try await client.download(CurlRequest(url: url), toFile: target)
        let output = try Libc.create(target + ".sha256")
        defer { close(output) }
        try Child(sha256sum, [target], output: output).wait()
        var digits = [UInt8](repeating: 0, count: 64)
        try Libc.check("pread", unsafe pread(output, &digits, digits.count, 0))
        return String(decoding: digits, as: UTF8.self)
    }
}
