import Sluice
import SluiceTestSupport
import Testing

@testable import SluiceCurl

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Downloads to memory and in chunks.
@Suite struct ChunkDownloadTests {
    private let client = CurlClient()

    private func collect(_ response: StreamedResponse) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await chunk in response.chunks {
            #expect(!chunk.isEmpty)
            bytes += chunk
        }
        return bytes
    }

    // MARK: Memory

    @Test func `An answer is kept in memory up to the limit`() async throws {
        let faults = try await Fixtures.faults
        var request = CurlRequest(url: faults.place().file())
        request.responseBodyLimit = faults.content.count
        let reports = Reports()
        let response = try await client.download(request) { reports.add($0) }
        #expect(difference(response.body, faults.content) == nil)
        #expect(response.method == "GET")
        #expect(reports.all.last?.completedBytes == Int64(faults.content.count))
        #expect(reports.all.last?.isFinished == true)
        request.responseBodyLimit -= 1
        #expect(await failure { try await client.download(request) }?.code == .responseTooLarge)
    }

    @Test(arguments: ["close@100000", "reset@100000", "drop"])
    func `An answer that breaks off is none`(fault: String) async throws {
        let request = try await CurlRequest(url: Fixtures.faults.place(fault).file())
        #expect(await failure { try await client.download(request) }?.code == .connectionLost)
        var patient = try await CurlRequest(url: Fixtures.faults.place(fault).file())
        patient.retry = .quick(2)
        #expect(try await difference(client.download(patient).body, Fixtures.faults.content) == nil)
    }

    @Test func `A header field that is too long is not for want of memory`() async throws {
        let request = try await CurlRequest(url: Fixtures.faults.place("long-header").file())
        #expect(await failure { try await client.download(request) }?.code == .protocolError)
    }

    @Test func `Any status is a response`() async throws {
        let response = try await client.download(CurlRequest(url: Fixtures.faults.place("404").file()))
        #expect(response.status == 404)
        #expect(String(decoding: response.body, as: UTF8.self) == "refused with 404\n")
    }

    @Test func `HEAD has a head and no body`() async throws {
        let nginx = try await Fixtures.nginx
        try nginx.store("head", [1, 2, 3])
        let response = try await client.download(CurlRequest("HEAD", url: nginx.url("/store/head")))
        #expect(response.status == 200)
        #expect(response.header("Content-Length") == "3")
        #expect(response.body.isEmpty)
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "get"])
    func `A download does not ask with other methods`(method: String) async throws {
        let request = CurlRequest(method, url: "http://127.0.0.1:1/")
        #expect(await failure { try await client.download(request) }?.code == .invalidRequest)
        #expect(await failure { try await client.downloadChunks(request).head }?.code == .invalidRequest)
        #expect(
            await failure { try await client.download(request, toFile: "/tmp/x").response }?.code == .invalidRequest
        )
    }

    @Test func `Credentials and redirects work as in uploads`() async throws {
        let nginx = try await Fixtures.nginx
        try nginx.store("private", Array("secret".utf8))
        var request = CurlRequest(url: nginx.url("/private"))
        #expect(try await client.download(request).status == 401)
        request.authentication = .any(user: "user", password: "pass")
        #expect(try await client.download(request).body == Array("secret".utf8))
        let streamed = try await client.downloadChunks(request)
        #expect(streamed.head.status == 200)
        #expect(try await collect(streamed) == Array("secret".utf8))
    }

    // MARK: Chunks

    @Test(arguments: ["http", "https"])
    func `Chunks come to the whole`(scheme: String) async throws {
        let nginx = try await Fixtures.nginx
        let content = TemporaryDirectory.noise(5_000_000, seed: 4)
        try nginx.store("chunks-\(scheme)", content)
        let url = scheme == "http" ? nginx.url("/store/chunks-http") : nginx.secureURL("/store/chunks-https")
        let response = try await client.downloadChunks(Fixtures.secureRequest(nil, url: url))
        #expect(response.head.status == 200)
        #expect(response.head.body.isEmpty)
        #expect(response.contentLength == 5_000_000)
        #expect(try await difference(collect(response), content) == nil)
    }

    @Test func `The head is there before the body`() async throws {
        let place = try await Fixtures.faults.place("stall@0")
        let response = try await client.downloadChunks(CurlRequest(url: place.file()))
        #expect(response.head.status == 200)
    }

    @Test func `An empty body has no chunk`() async throws {
        let response = try await client.downloadChunks(CurlRequest(url: Fixtures.faults.place().file("empty")))
        #expect(try await collect(response).isEmpty)
        #expect(try await collect(response).isEmpty)
    }

    @Test func `A status that is an error has a body in chunks, too`() async throws {
        let response = try await client.downloadChunks(CurlRequest(url: Fixtures.faults.place("404").file()))
        #expect(response.head.status == 404)
        #expect(try await String(decoding: collect(response), as: UTF8.self) == "refused with 404\n")
    }

    @Test func `No head is an error`() async throws {
        let request = CurlRequest(url: "http://127.0.0.1:1/")
        #expect(await failure { try await client.downloadChunks(request).head }?.code == .couldNotConnect)
    }

    @Test func `A body that breaks off is an error behind what came`() async throws {
        let faults = try await Fixtures.faults
        let response = try await client.downloadChunks(CurlRequest(url: faults.place("close@400000").file()))
        var bytes: [UInt8] = []
        var last: TransferError?
        do throws(TransferError) {
            for try await chunk in response.chunks { bytes += chunk }
        } catch {
            last = error
        }
        #expect(last?.code == .connectionLost)
        #expect(difference(bytes, Array(faults.content[..<400_000])) == nil)
    }

    @Test func `A body that breaks off is gone on with where that is asked for`() async throws {
        let faults = try await Fixtures.faults
        let place = faults.place("503", "close@400000", "reset@300000", "close@1")
        var request = CurlRequest(url: place.file())
        request.retry = .quick(5)
        let response = try await client.downloadChunks(request)
        #expect(response.head.attempts == 2)
        #expect(try await difference(collect(response), faults.content) == nil)
        #expect(try await place.requests().map { $0.range != nil } == [false, false, true, true, true])
    }

    @Test(arguments: [
        "other", "whole", "wrong-range", "open-range", "bare-206", "two-ranges", "coded-range", "two-tags",
    ])
    func `A body is not gone on with by another version's bytes`(fault: String) async throws {
        let faults = try await Fixtures.faults
        var request = CurlRequest(url: faults.place("close@400000", fault).file())
        request.retry = .quick(5)
        let response = try await client.downloadChunks(request)
        let error = await failure {
            _ = try await collect(response)
            return response.head
        }
        #expect(error?.code == .connectionLost)
        #expect(error?.reason.contains("rest") == true)
    }

    @Test func `A body of unknown length is not gone on with by what may be a part of the rest`() async throws {
        let place = try await Fixtures.faults.place("reset@400000", "open-range", query: "length=no")
        var request = CurlRequest(url: place.file())
        request.retry = .quick(5)
        let response = try await client.downloadChunks(request)
        let error = await failure {
            _ = try await collect(response)
            return response.head
        }
        #expect(error?.code == .connectionLost)
        #expect(error?.reason.contains("rest") == true)
    }

    @Test func `A range that was asked for and not given is not asked for again beside the rest`() async throws {
        let faults = try await Fixtures.faults
        let place = faults.place("503", "close@400000")
        var request = CurlRequest(url: place.file())
        // A server may give the whole instead (RFC 9110 section 14.2), as this one does.
        try request.addHeader("Range", "bytes=0-99,200-299")
        request.retry = .quick(5)
        let response = try await client.downloadChunks(request)
        #expect(response.head.status == 200)
        #expect(try await difference(collect(response), faults.content) == nil)
        let asked = ["bytes=0-99,200-299", "bytes=0-99,200-299", "bytes=400000-"]
        #expect(try await place.requests().map(\.range) == asked)
    }

    @Test func `A body whose version nobody knows is not gone on with`() async throws {
        let place = try await Fixtures.faults.place("close@400000", query: "etag=weak")
        var request = CurlRequest(url: place.file())
        request.retry = .quick(5)
        let response = try await client.downloadChunks(request)
        let error = await failure {
            _ = try await collect(response)
            return response.head
        }
        #expect(error?.code == .connectionLost)
        #expect(error?.reason.contains("not tried again") == true)
        #expect(try await place.requests().count == 1)
    }

    // MARK: Back-pressure

    @Test(arguments: ["http", "https", "http2"])
    func `What nobody takes does not pile up, and holds up nobody else`(scheme: String) async throws {
        let nginx = try await Fixtures.nginx
        let size = 48 << 20
        let zeros = try TemporaryDirectory.contents(ofFile: "/dev/null")
        try nginx.store("large-\(scheme)", zeros)
        try #require(unsafe truncate("\(nginx.directory ?? "")/store/large-\(scheme)", off_t(size)) == 0)
        try nginx.store("quick", [1, 2, 3])
        func url(_ path: String) -> String { scheme == "http" ? nginx.url(path) : nginx.secureURL(path) }
        var request = try await Fixtures.secureRequest(nil, url: url("/store/large-\(scheme)"))
        if scheme == "http2" { request.httpVersion = .http2 }
        request.idleTimeout = .seconds(3)
        let reports = Reports()
        let lines = Lines()
        request.debug = { lines.add($0) }
        let response = try await client.downloadChunks(request, bufferSize: 100_000) { reports.add($0) }
        // All of this while nobody takes a chunk, on the same connection where there is one for all.
        for _ in 0..<35 {
            var quick = request
            quick.url = url("/store/quick")
            quick.idleTimeout = .seconds(20)
            #expect(try await client.download(quick).body == [1, 2, 3])
            let sent = try await client.upload(
                Fixtures.form(200_000),
                Fixtures.secureRequest(url: url("/upload"))
            )
            #expect(sent.status == 200)
            try await Task.sleep(for: .milliseconds(100))
        }
        #expect(reports.all.allSatisfy { $0.completedBytes <= 200_000 })
        var count = 0
        for try await chunk in response.chunks {
            #expect(chunk.count <= 200_000)
            count += chunk.count
        }
        #expect(count == size)
        let connections = lines.texts(.info).filter { $0.hasPrefix("Connected to") }.count
        #expect(connections == (scheme == "http" ? 2 : 1))
    }

    @Test(arguments: ["iterator", "sequence", "cancel"])
    func `A transfer ends with whoever could take its bytes`(way: String) async throws {
        let place = try await Fixtures.faults.place("stall@300000")
        let lines = Lines()
        var request = CurlRequest(url: place.file())
        request.debug = { lines.add($0) }
        request.idleTimeout = nil
        func closed() -> Bool { lines.texts(.info).contains { $0.hasPrefix("Closing connection") } }
        switch way {
        case "sequence":
            _ = try await client.downloadChunks(request)
        case "iterator":
            let response = try await client.downloadChunks(request)
            for try await _ in response.chunks { break }
            #expect(await ProcessState.settles { closed() })
            // It is over for good.
            let error = await failure {
                for try await _ in response.chunks {}
                return response.head
            }
            #expect(error?.code == .cancelled)
        default:
            let response = try await client.downloadChunks(request)
            let task = Task {
                await failure {
                    for try await _ in response.chunks {}
                    return response.head
                }
            }
            try await Task.sleep(for: .milliseconds(100))
            task.cancel()
            #expect(await task.value?.code == .cancelled)
        }
        #expect(await ProcessState.settles { closed() })
    }

    @Test func `Whoever keeps small chunks keeps no room for large ones`() async throws {
        let channel = ChunkChannel(capacity: 1 << 30)
        func chunk(_ count: Int) async throws -> [UInt8] {
            let bytes = [UInt8](repeating: 1, count: count)
            #expect(unsafe bytes.withUnsafeBytes { unsafe channel.add($0) {} })
            return try #require(await channel.next().get())
        }
        #expect(try await chunk(10_000_000).count == 10_000_000)
        var kept: [[UInt8]] = []
        for _ in 0..<100 { try await kept.append(chunk(10)) }
        #expect(kept.allSatisfy { $0 == Array(repeating: 1, count: 10) })
        // As much as a few large ones in all, and in the end next to nothing.
        #expect(kept.map(\.capacity).reduce(0, +) < 5 << 20)
        #expect(kept.suffix(10).allSatisfy { $0.capacity < 100 })
    }

    @Test func `A task that is cancelled while it waits for the head gets none`() async throws {
        let url = try await Fixtures.server.url("/slow-response?seconds=60")
        let task = Task { await failure { try await client.downloadChunks(CurlRequest(url: url)).head } }
        try await Task.sleep(for: .milliseconds(200))
        task.cancel()
        #expect(await task.value?.code == .cancelled)
    }
}
