import Foundation
import Sluice
import SluiceCurl
import SluiceTestSupport
import Testing

/// What real servers make of the bodies.
@Suite struct ReceiverTests {
    private let client = CurlClient()

    @Test func `The server finds every part as it was described`() async throws {
        let directory = try TemporaryDirectory()
        let photo = try directory.file("photo ä.jpg", TemporaryDirectory.noise(300_000))
        let webp = try MediaType("image/webp")
        let body = try MultipartForm {
            Part.field("naïve; name", "wert ä")
            Part.file("photo", path: photo)
            Part.file("empty", bytes: [], filename: "empty.txt")
            Part.file("typed", bytes: [1, 2, 3], filename: "x", mediaType: webp)
        }.body()
        let response = try await client.upload(body, to: Fixtures.server.url("/upload"))
        let parts = try #require(Account(response).parts)
        #expect(response.status == 200)
        #expect(parts.map(\.name) == ["naïve; name", "photo", "empty", "typed"])
        #expect(parts.map(\.filename) == [nil, "photo ä.jpg", "empty.txt", "x"])
        #expect(parts.map(\.contentType) == [nil, "image/jpeg", "text/plain", "image/webp"])
        #expect(parts.map(\.size) == [6 + 1, 300_000, 0, 3])
        #expect(try parts[1].sha256 == ChildProcess.sha256(ofFile: photo))
        // FIPS 180-4: the digest of nothing.
        #expect(parts[2].sha256 == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }

    @Test(arguments: [true, false], ["http", "https"])
    func `nginx stores the bytes that writing to a file gives`(knownLength: Bool, scheme: String) async throws {
        let directory = try TemporaryDirectory()
        let content = TemporaryDirectory.noise(3_000_000)
        let chunks = AsyncSource.restartable(knownLength: knownLength ? 3_000_000 : nil) {
            ChunkSequence(content, size: 70_000)
        }
        let path = try directory.file("content", content)
        let body = try MultipartForm {
            Part.file("file", path: path)
            Part.file("async", chunks, filename: "a")
        }.body()
        let written = try directory.file("written", [])
        try await body.write(toPath: written)

        let nginx = try await Fixtures.nginx
        let url = scheme == "http" ? nginx.url("/upload") : nginx.secureURL("/upload")
        let response = try await client.upload(body, Fixtures.secureRequest(url: url))
        let stored = try Stored(response)
        #expect(try ChildProcess.sha256(ofFile: stored.file) == ChildProcess.sha256(ofFile: written))
        #expect(response.httpVersion == (scheme == "http" ? "HTTP/1.1" : "HTTP/2"))
        #expect(stored.protocol == (scheme == "http" ? "HTTP/1.1" : "HTTP/2.0"))
        #expect(stored.method == "POST")
        #expect(stored.contentLength == (knownLength ? "\(try #require(body.contentLength))" : ""))
        #expect(stored.transferEncoding == (!knownLength && scheme == "http" ? "chunked" : ""))
        #expect(response.sentCompletely)
        #expect(response.reason == (scheme == "http" ? "OK" : nil))
    }

    @Test(arguments: ["http", "https"])
    func `nginx stores what is put`(scheme: String) async throws {
        let directory = try TemporaryDirectory()
        let nginx = try await Fixtures.nginx
        let body = try Fixtures.form(500_000)
        let written = try directory.file("written", [])
        try await body.write(toPath: written)
        let path = "/store/\(scheme)-\(Int.random(in: 0..<Int.max))"
        let url = scheme == "http" ? nginx.url(path) : nginx.secureURL(path)
        let response = try await client.upload(body, Fixtures.secureRequest("PUT", url: url))
        #expect(response.status == 201)
        let stored = try #require(nginx.directory) + path
        #expect(try ChildProcess.sha256(ofFile: stored) == ChildProcess.sha256(ofFile: written))
    }

    @Test func `Fifty uploads at a time arrive whole, on one client`() async throws {
        let directory = try TemporaryDirectory()
        let server = try await Fixtures.server
        try await withThrowingTaskGroup { group in
            for index in 0..<50 {
                let path = try directory.file(
                    "\(index)",
                    TemporaryDirectory.noise(50_000 + index * 1000, seed: UInt64(index))
                )
                group.addTask {
                    let body = try MultipartForm { Part.file("file", path: path) }.body()
                    let response = try await client.upload(body, to: server.url("/upload"))
                    let part = try #require(Account(response).parts?.first)
                    #expect(try part.sha256 == ChildProcess.sha256(ofFile: path))
                    #expect(part.size == 50_000 + index * 1000)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `Uploads over HTTP/2 share a connection, and a cancelled one leaves it whole`() async throws {
        let directory = try TemporaryDirectory()
        let nginx = try await Fixtures.nginx
        let lines = Lines()
        var request = try await Fixtures.secureRequest(url: nginx.secureURL("/upload"))
        request.debug = { lines.add($0) }
        // The first one makes the connection.
        let first = try await client.upload(Fixtures.form(), request)
        #expect(first.httpVersion == "HTTP/2")

        let endless = AsyncSource(ChunkSequence([1, 2], size: 1, pause: .seconds(60)))
        let endlessBody = try MultipartForm { Part.file("endless", endless, filename: "e") }.body()
        let doomed = Task { [request] in await failure { try await client.upload(endlessBody, request) } }
        try await withThrowingTaskGroup { group in
            for index in 0..<20 {
                group.addTask { [request] in
                    let content = TemporaryDirectory.noise(1_000_000, seed: UInt64(index))
                    let path = try directory.file("\(index)", content)
                    let pause = Duration.milliseconds(index.isMultiple(of: 3) ? 20 : 0)
                    let chunks = AsyncSource.restartable { ChunkSequence(content, size: 150_000, pause: pause) }
                    let body = try MultipartForm {
                        if index.isMultiple(of: 2) {
                            Part.file("file", path: path)
                        } else {
                            Part.file("async", chunks, filename: "a")
                        }
                    }.body()
                    let written = try directory.file("written-\(index)", [])
                    try await body.write(toPath: written)
                    let stored = try Stored(await client.upload(body, request))
                    #expect(stored.protocol == "HTTP/2.0")
                    #expect(try ChildProcess.sha256(ofFile: stored.file) == ChildProcess.sha256(ofFile: written))
                    if index == 10 { doomed.cancel() }
                }
            }
            try await group.waitForAll()
        }
        #expect(await doomed.value?.code == .cancelled)
        #expect(lines.texts(.info).filter { $0.hasPrefix("Connected to") }.count == 1)
    }

    @Test func `No more connections are opened than the configuration allows`() async throws {
        let directory = try TemporaryDirectory()
        let server = try await ServerProcess.started("raw_server.py", "--mode", "record", "--record", directory.path)
        var configuration = CurlClient.Configuration()
        configuration.maximumConnectionsPerHost = 1
        let client = CurlClient(configuration)
        let lines = Lines()
        try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    var request = CurlRequest(url: server.url("/"))
                    request.debug = { lines.add($0) }
                    let response = try await client.upload(Fixtures.form(), request)
                    #expect(response.status == 200)
                }
            }
            try await group.waitForAll()
        }
        #expect(lines.texts(.info).filter { $0.hasPrefix("Connected to") }.count == 1)
    }
}

/// What nginx says of a body that it stored.
private struct Stored: Decodable {
    let file: String
    let method: String
    let `protocol`: String
    let contentLength: String
    let transferEncoding: String

    init(_ response: CurlResponse) throws {
        self = try JSONDecoder().decode(Stored.self, from: Data(response.body))
    }
}
