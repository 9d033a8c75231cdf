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

/// Many uploads at a time, what events cost, and how soon a transfer ends that is cancelled.
enum UploadManyRows {
    private static let atATime = 200
    private static let count = 1000

    static var all: [Row] {
        [
            Row(
                name: "upload-many",
                summary:
                    "\(count) uploads of 1 MiB, \(atATime) at a time on as many connections; limit: curl --parallel",
                mark: .timeAtMost(1),
                isCountedInShortSet: false
            ) { fixture, _ in
                guard let curl = Child.onPath("curl") else { return .absent("curl is not installed") }
                let sink = try Sink()
                let path = fixture.directory + "/mebibyte"
                let descriptor = try Libc.create(path)
                defer { close(descriptor) }
                let mebibyte = Libc.Buffer(1 << 20)
                // The pointer alone does not keep it.
                try withExtendedLifetime(mebibyte) {
                    unsafe try Libc.writeAll(descriptor, UnsafeRawBufferPointer(mebibyte.bytes))
                }
                let list = try list(of: path, sink.url, fixture)
                var configuration = CurlClient.Configuration()
                configuration.maximumConnectionsPerHost = atATime
                let client = CurlClient(configuration)
                let body = try MultipartForm { Part.file("file", path: path) }.body()
                var request = CurlRequest(url: sink.url)
                request.expectContinue = .never
                let most = "\(atATime)"
                return .paired(
                    bytes: Int64(count) << 20,
                    sluice: { [request] in
                        try await uploadMany(body, request, client)
                        withExtendedLifetime(sink) {}
                    },
                    limits: [
                        (
                            "curl --parallel",
                            {
                                // It says how far it is, however silent it is to be.
                                let script =
                                    #"exec "$0" -s -Z --parallel-immediate --parallel-max "$1" -K "$2" 2>/dev/null"#
                                try Child("/bin/sh", ["-c", script, curl, most, list], output: "/dev/null").wait()
                            }
                        )
                    ]
                )
            },
            Row(
                name: "upload-events",
                summary: "one large upload with its events taken; limit: the same without",
                mark: .timeAtMost(1.01)
            ) { fixture, options in
                let upload = try LargeUpload(fixture.largeFile())
                return .paired(
                    bytes: options.size,
                    sluice: {
                        for try await event in upload.client.uploadEvents(upload.body, upload.request) {
                            if case .response(let response) = event { try Libc.check("status", response.status - 200) }
                        }
                    },
                    limits: [
                        (
                            "without",
                            { _ = try await upload.client.upload(upload.body, upload.request) }
                        )
                    ]
                )
            },
            Row(
                name: "upload-cancel",
                summary: "the longest of 50 cancellations of a transfer that moves, all that it held freed",
                mark: .valueAtMost(100, "ms")
            ) { fixture, options in
                let upload = try LargeUpload(fixture.sparseFile(options.sparseSize))
                var longest = 0.0
                for _ in 0..<50 {
                    let task = Task { [client = upload.client, body = upload.body, request = upload.request] in
                        try await client.upload(body, request)
                    }
                    try await Task.sleep(for: .milliseconds(20))
                    let start = Libc.seconds()
                    task.cancel()
                    _ = await task.result
                    longest = max(longest, (Libc.seconds() - start) * 1000)
                }
                return withExtendedLifetime(upload) { .value(longest, details: "") }
            },
        ]
    }

    private static func uploadMany(_ body: MultipartBody, _ request: CurlRequest, _ client: CurlClient) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<count {
                if index >= atATime { try await group.next() }
                group.addTask { _ = try await client.upload(body, request) }
            }
            try await group.waitForAll()
        }
    }

    /// The same uploads as curl reads them.
    private static func list(of path: String, _ url: String, _ fixture: Fixture) throws -> String {
        let list = fixture.directory + "/curl.config"
        let one = "url = \"\(url)\"\nform = \"file=@\(path)\"\nheader = \"Expect:\"\noutput = \"/dev/null\"\n"
        let text = Array(repeating: one, count: count).joined(separator: "next\n")
        let descriptor = try Libc.create(list)
        defer { close(descriptor) }
        try unsafe Array(text.utf8).withUnsafeBytes { unsafe try Libc.writeAll(descriptor, $0) }
        return list
    }
}
