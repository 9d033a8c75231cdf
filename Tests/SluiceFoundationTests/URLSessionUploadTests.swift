import Foundation
import Sluice
import SluiceFoundation
import SluiceTestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Uploads by URLSession, as real servers see them.
@Suite(.serialized, .timeLimit(.minutes(5))) struct URLSessionUploadTests {
    private struct Failure: Error {}

    private let scratch: TemporaryDirectory

    init() throws {
        scratch = try TemporaryDirectory()
    }

    // MARK: What arrives

    @Test("Every kind of part arrives as it was, in exactly one framing", arguments: SampleBody.allCases)
    func parts(sample: SampleBody) async throws {
        let server = try ServerProcess("upload_server.py")
        let body = try sample.form(in: scratch).body()
        var request = URLRequest(url: try server.endpoint("/upload"))
        let upload = request.setMultipartBody(body)
        let received = try await send(request).received()
        #expect(received.method == "POST")
        #expect(received.values(of: "Content-Type") == [body.contentType])
        #expect(received.values(of: "Content-Length") == (body.contentLength.map { ["\($0)"] } ?? []))
        #expect(received.values(of: "Transfer-Encoding") == (body.contentLength == nil ? ["chunked"] : []))
        #expect(upload.error == nil)

        let data = try await onThread { Result { try body.data(upTo: .max) } }.get()
        #expect(upload.position == Int64(data.count))
        let expected = try #require(try parse(data, body.contentType, in: scratch)["aiohttp"])
        #expect(received.parts.map(\.rawDisposition) == expected.map(\.rawDisposition))
        #expect(received.parts.map(\.contentType) == expected.map(\.contentType))
        #expect(received.parts.map(\.size) == expected.map(\.size))
        #expect(received.parts.map(\.sha256) == expected.map(\.sha256))
        #expect(received.parts.count == body.parts.count)
    }

    @Test("On the wire a known length is a Content-Length and nothing else, followed by the body")
    func exactFraming() async throws {
        let (server, records) = try recorder()
        var form = MultipartForm()
        try form.addField(name: "title", value: "Holiday")
        try form.addFile(name: "film", url: try scratch.fileURL("film.mkv", pattern(300_000)))
        let body = try form.body()
        var request = URLRequest(url: try server.endpoint("/"))
        request.setMultipartBody(body)
        #expect(await send(request).status == 200)

        let recording = try await Recording(in: records)
        #expect(recording.lines.first == "POST / HTTP/1.1")
        #expect(recording.values(of: "Content-Length") == [try #require(body.contentLength).description])
        #expect(recording.values(of: "Transfer-Encoding") == [])
        #expect(recording.values(of: "Content-Type") == [body.contentType])
        #expect(recording.values(of: "Expect") == [])
        #expect(recording.body == (try body.data(upTo: .max)))
        #expect(recording.facts.complete)
    }

    @Test("On the wire an unknown length is chunked coding and nothing else")
    func chunkedFraming() async throws {
        let (server, records) = try recorder()
        var form = MultipartForm()
        try form.append(.file("none", GeneratorSource.restartable { { _ in } }, filename: "none"))
        var request = URLRequest(url: try server.endpoint("/"))
        // A length left over from an earlier body must go.
        request.setValue("5", forHTTPHeaderField: "Content-Length")
        request.setMultipartBody(try form.body())
        #expect(await send(request).status == 200)

        let recording = try await Recording(in: records)
        #expect(recording.values(of: "Content-Length") == [])
        #expect(recording.values(of: "Transfer-Encoding") == ["chunked"])
        #expect(recording.facts.framing == "chunked")
        #expect(recording.facts.complete)
        #expect(recording.facts.size == Int64(try form.body().data(upTo: .max).count))
    }

    @Test("300 MiB arrive with their SHA-256, and the file is closed afterwards")
    func large() async throws {
        let server = try ServerProcess("upload_server.py")
        let file = try scratch.fileURL("large.bin", [])
        let block = Data(pattern(1 << 20))
        let handle = try FileHandle(forWritingTo: file)
        for index in 0..<300 { try handle.write(contentsOf: block[(index * 7)...] + block[..<(index * 7)]) }
        try handle.close()

        var form = MultipartForm()
        try form.addFile(name: "large", url: file)
        let body = try form.body()
        let upload: BodyInputStream.Handle
        do {
            var request = URLRequest(url: try server.endpoint("/upload"))
            upload = request.setMultipartBody(body)
            let received = try await send(request).received()
            #expect(received.parts.map(\.size) == [300 << 20])
            #expect(received.parts.map(\.sha256) == [try ChildProcess.sha256(ofFile: file.path)])
            #expect(received.values(of: "Content-Length") == [try #require(body.contentLength).description])
        }
        #expect(upload.error == nil)
        #expect(await eventually { descriptorsOpen(for: file.path) == 0 })
    }

    // MARK: What fails

    @Test("A file truncated while it is sent fails the upload, and its error is known", arguments: [true, false])
    func truncated(hasKnownLength: Bool) async throws {
        let (server, records) = try recorder()
        let file = try scratch.fileURL("film.mkv", pattern(3_000_000))
        var form = MultipartForm()
        try form.addFile(name: "film", url: file)
        if !hasKnownLength {
            try form.append(.file("none", GeneratorSource.restartable { { _ in } }, filename: "none"))
        }
        var request = URLRequest(url: try server.endpoint("/"))
        let upload = request.setMultipartBody(try form.body()) { _ in try? cut(file, to: 1_000_000) }
        let answer = await send(request)
        #expect(answer.status == nil)
        #expect(answer.error != nil)
        #expect(upload.error?.code == .fileShrank)
        #expect(upload.error?.part?.name == "film")
        #expect(upload.error?.path == file.path)
        #expect((request.httpBodyStream as? BodyInputStream)?.bodyError?.code == .fileShrank)

        let recording = try await Recording(in: records)
        #expect(!recording.facts.complete, "the server must not take the request for a whole one")
        #expect(recording.facts.size < 1_000_500)
    }

    @Test(
        "A source that throws midway fails the upload, and its error is known",
        arguments: [2_000_000, nil] as [Int64?]
    )
    func throwing(knownLength: Int64?) async throws {
        let (server, records) = try recorder()
        let source = GeneratorSource.restartable(knownLength: knownLength) {
            var left = 500_000
            return { buffer in
                if left == 0 { throw Failure() }
                while buffer.freeCapacity > 0, left > 0 {
                    buffer.append(0x78)
                    left -= 1
                }
            }
        }
        var form = MultipartForm()
        try form.append(.file("broken", source, filename: "x"))
        var request = URLRequest(url: try server.endpoint("/"))
        let upload = request.setMultipartBody(try form.body())
        let answer = await send(request)
        #expect(answer.status == nil)
        #expect(answer.error != nil)
        #expect(upload.error?.part?.name == "broken")
        #expect(upload.error?.underlyingError is Failure)
        #expect(try await !Recording(in: records).facts.complete)
    }

    @Test("Closing the stream ends an upload whose source waits", arguments: [10_000, nil] as [Int64?])
    func close(knownLength: Int64?) async throws {
        let (server, records) = try recorder()
        let (sequence, continuation) = AsyncStream.makeStream(of: Data.self)
        continuation.yield(Data(pattern(1000)))
        var form = MultipartForm()
        try form.append(.file("live", AsyncSource(sequence, knownLength: knownLength), filename: "x"))
        var request = URLRequest(url: try server.endpoint("/"))
        let upload = request.setMultipartBody(try form.body())
        async let answer = send(request)
        #expect(await eventually { upload.position > 1000 })
        upload.close()
        #expect(await answer.error != nil)
        #expect(upload.error?.code == .cancelled)
        #expect(try await !Recording(in: records).facts.complete)
        continuation.finish()
    }

    @Test("An answer that comes before the body was read is the answer")
    func earlyAnswer() async throws {
        let server = try ServerProcess("upload_server.py")
        var form = MultipartForm()
        try form.addFile(name: "film", url: try scratch.fileURL("film.mkv", pattern(3_000_000)))
        var request = URLRequest(url: try server.endpoint("/status/413"))
        let upload = request.setMultipartBody(try form.body())
        #expect(await send(request).status == 413)
        #expect(upload.error == nil)
    }

    // MARK: More than one attempt

    @Test("A challenge is answered with a fresh stream, which has the whole body")
    func freshStream() async throws {
        let server = try ServerProcess("upload_server.py")
        var form = MultipartForm()
        try form.addFile(name: "film", url: try scratch.fileURL("film.mkv", pattern(300_000)))
        let body = try form.body()
        let streams = Streams()
        let delegate = Delegate {
            let stream = body.makeInputStream()
            streams.append(stream.handle)
            return stream
        }
        var request = URLRequest(url: try server.endpoint("/basic?drain=1"))
        request.setMultipartBody(body)
        let sent = request
        let answer = await delegate.run { $0.uploadTask(withStreamedRequest: sent) }
        #expect(answer?.status == 200)
        #expect(streams.all.count >= 2)
        #expect(streams.all.last?.position == body.contentLength)
    }

    @Test(
        "A redirect that the delegate refuses is what the caller sees, and one that it follows never passes for a success"
    )
    func redirect() async throws {
        let server = try ServerProcess("upload_server.py")
        var form = MultipartForm()
        try form.addField(name: "a", value: "1")
        let body = try form.body()
        for follows in [false, true] {
            var request = URLRequest(url: try server.endpoint("/redirect/307?to=/upload&drain=1"))
            if follows { request.timeoutInterval = 2 }
            request.setMultipartBody(body)
            let sent = request
            let answer = await Delegate(followsRedirects: follows).run { $0.dataTask(with: sent) }
            if follows {
                #expect(answer?.error != nil)
            } else {
                #expect(answer?.status == 307)
            }
        }
    }

    // MARK: The request

    @Test(
        "GET becomes POST, and every other method stays",
        arguments: [(nil, "POST"), ("GET", "POST"), ("PUT", "PUT")]
    )
    func method(given: String?, expected: String) throws {
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1/")))
        if let given { request.httpMethod = given }
        request.setMultipartBody(try MultipartForm().body())
        #expect(request.httpMethod == expected)
        #expect(request.httpBodyStream is BodyInputStream)
    }

    private func recorder() throws -> (ServerProcess, URL) {
        let records = scratch.url.appendingPathComponent("records")
        return (try ServerProcess("raw_server.py", "--mode", "record", "--record", records.path), records)
    }
}
