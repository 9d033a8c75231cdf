import Foundation
import Sluice
import SluiceFoundation
import SluiceTestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// `URLSession.upload`: what arrives, what comes back, and what an error says.
@Suite(.timeLimit(.minutes(5))) struct SessionUploadTests {
    private struct Failure: Error {}

    private let scratch: TemporaryDirectory
    private let session = URLSession(configuration: .ephemeral)

    init() throws {
        scratch = try TemporaryDirectory()
    }

    // MARK: What arrives

    @Test("A known length goes out as Content-Length alone, without Expect, followed by exactly the body")
    func exactFraming() async throws {
        let server = try await SessionServer(in: scratch)
        let (body, bytes) = try MultipartBody.sample(300_000, in: scratch)
        let response = try await session.upload(body, for: server.request("/ok"))
        #expect(response.status == 200)
        #expect(response.sentCompletely)
        #expect(response.sentBytes == body.contentLength)
        #expect(response.method == "POST")
        #expect(response.header("content-type") == "application/json")

        let recording = try await server.recording()
        #expect(recording.lines.first == "POST /ok HTTP/1.1")
        #expect(recording.values(of: "Content-Length") == ["\(bytes.count)"])
        #expect(recording.values(of: "Transfer-Encoding") == [])
        #expect(recording.values(of: "Expect") == [])
        #expect(recording.values(of: "Content-Type") == [body.contentType])
        #expect(recording.body == bytes)
        #expect(recording.facts.complete)
    }

    @Test("An unknown length goes out in chunked coding alone", arguments: ["POST", "PUT"])
    func chunkedFraming(method: String) async throws {
        let server = try await SessionServer(in: scratch)
        let body = try SampleBody.unknown.form(in: scratch).body()
        var request = try server.request("/ok", method: method)
        // Left over from somewhere; they must not go out.
        request.setValue("5", forHTTPHeaderField: "Content-Length")
        request.setValue("identity", forHTTPHeaderField: "Transfer-Encoding")
        #expect(try await session.upload(body, for: request).status == 200)
        let recording = try await server.recording()
        #expect(recording.lines.first == "\(method) /ok HTTP/1.1")
        #expect(recording.values(of: "Content-Length") == [])
        #expect(recording.values(of: "Transfer-Encoding") == ["chunked"])
        #expect(recording.values(of: "Expect") == [])
        #expect(recording.facts.size == Int64(try await body.whole().count))
    }

    @Test("Every kind of part arrives at a real server", arguments: SampleBody.allCases)
    func parts(sample: SampleBody) async throws {
        let server = try await ServerProcess.started("upload_server.py")
        let body = try sample.form(in: scratch).body()
        let response = try await session.upload(body, for: URLRequest(url: try server.endpoint("/upload")))
        #expect(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
        let received = try JSONDecoder().decode(Received.self, from: response.body)
        #expect(received.parts.count == body.parts.count)
        #expect(received.values(of: "Transfer-Encoding") == (body.contentLength == nil ? ["chunked"] : []))
    }

    @Test("nginx takes a body of either framing", arguments: [SampleBody.known, .unknown])
    func nginx(sample: SampleBody) async throws {
        struct Stored: Decodable {
            var file: String
            var contentLength: String
            var transferEncoding: String
        }
        let server = try await ServerProcess.started("nginx_server.py")
        let body = try sample.form(in: scratch).body()
        let response = try await session.upload(body, for: URLRequest(url: try server.endpoint("/upload")))
        let stored = try JSONDecoder().decode(Stored.self, from: response.body)
        #expect(try await Data(contentsOf: URL(fileURLWithPath: stored.file)) == body.whole())
        #expect(stored.contentLength == body.contentLength.map { "\($0)" } ?? "")
    }

    @Test("300 MiB arrive with their SHA-256; the progress has the body's total, and the events end with the response")
    func large() async throws {
        let server = try await ServerProcess.started("upload_server.py")
        let file = scratch.url.appendingPathComponent("large.bin")
        let block = Data(pattern(1 << 20))
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        for index in 0..<300 { try handle.write(contentsOf: block[(index * 7)...] + block[..<(index * 7)]) }
        try handle.close()
        var form = MultipartForm()
        try form.addFile(name: "large", url: file)
        let body = try form.body()

        var reports: [TransferProgress] = []
        var response: SessionResponse?
        for try await event in session.uploadEvents(body, for: URLRequest(url: try server.endpoint("/upload"))) {
            switch event {
            case .progress(let progress):
                #expect(response == nil)
                reports.append(progress)
            case .response(let last): response = last
            }
        }
        let received = try JSONDecoder().decode(Received.self, from: try #require(response).body)
        #expect(received.parts.map(\.size) == [300 << 20])
        #expect(received.parts.map(\.sha256) == [try ChildProcess.sha256(ofFile: file.path)])
        #expect(received.values(of: "Content-Length") == [try #require(body.contentLength).description])
        #expect(!reports.isEmpty)
        #expect(reports.allSatisfy { $0.totalBytes == body.contentLength && $0.attempt == 1 })
        #expect(zip(reports, reports.dropFirst()).allSatisfy { $0.completedBytes <= $1.completedBytes })
        #expect(await eventually { descriptorsOpen(for: file.path) == 0 })
    }

    @Test("A Progress follows the upload, and is finished when the call returns")
    func foundationProgress() async throws {
        let server = try await SessionServer(in: scratch)
        let (body, _) = try MultipartBody.sample(300_000, in: scratch)
        let progress = Progress(totalUnitCount: -1)
        _ = try await session.upload(body, for: server.request("/ok"), progress: Progress.handler(for: progress))
        #expect(progress.totalUnitCount == body.contentLength)
        #expect(progress.isFinished)
    }

    @Test("A progress handler may call URLSession, and take its time")
    func handlerCallsURLSession() async throws {
        let server = try await SessionServer(in: scratch)
        let (body, _) = try MultipartBody.sample(300_000, in: scratch)
        let request = try server.request("/ok")
        let reports = Reports()
        let response = try await session.upload(body, for: request) { report in
            let other = URLSession(configuration: .ephemeral)
            other.dataTask(with: request).cancel()
            other.invalidateAndCancel()
            Thread.sleep(forTimeInterval: 0.05)
            reports.append(report)
        }
        #expect(response.status == 200)
        #expect(reports.all.last?.isLast == true)
        #expect(reports.all.last?.isFinished == true)
    }

    @Test("The configuration's header fields go along, and the request's go before them")
    func configuration() async throws {
        let server = try await SessionServer(in: scratch)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = [
            "X-Both": "configuration", "X-One": "1", "Content-Length": "7", "Transfer-Encoding": "gzip",
        ]
        let (body, bytes) = try MultipartBody.sample(10, in: scratch)
        var request = try server.request("/ok")
        request.setValue("request", forHTTPHeaderField: "x-both")
        _ = try await URLSession(configuration: configuration).upload(body, for: request)
        let recording = try await server.recording()
        #expect(recording.values(of: "X-Both") == ["request"])
        #expect(recording.values(of: "X-One") == ["1"])
        #expect(recording.values(of: "Content-Length") == ["\(bytes.count)"])
        #expect(recording.values(of: "Transfer-Encoding") == [])
        #expect(configuration.httpAdditionalHeaders?.count == 4, "the caller's configuration is left alone")
    }

    @Test("No header field can be injected by another one's value")
    func injection() async throws {
        let server = try await SessionServer(in: scratch)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-One": "1\r\nX-Injected: 2"]
        let (body, _) = try MultipartBody.sample(10, in: scratch)
        var request = try server.request("/ok")
        request.setValue("1\r\nX-Injected: 2", forHTTPHeaderField: "X-Given")
        let response = try? await URLSession(configuration: configuration).upload(body, for: request)
        if response != nil {
            #expect(try await server.recording().values(of: "X-Injected") == [])
        } else {
            #expect(server.requestCount == 0)
        }
    }

    @Test("50 uploads at a time all arrive whole")
    func parallel() async throws {
        struct Sized: Decodable {
            var size: Int64
        }
        let server = try await ServerProcess.started("upload_server.py")
        let url = try server.endpoint("/raw")
        let (body, _) = try MultipartBody.sample(1 << 20, in: scratch)
        let sizes = try await withThrowingTaskGroup { group in
            for _ in 0..<50 {
                group.addTask { [session] in
                    let response = try await session.upload(body, for: URLRequest(url: url))
                    return try JSONDecoder().decode(Sized.self, from: response.body).size
                }
            }
            return try await group.reduce(into: [Int64]()) { $0.append($1) }
        }
        #expect(sizes == Array(repeating: try #require(body.contentLength), count: 50))
    }

    // MARK: Early answers

    @Test("An answer that comes before the body was read is the answer, and says that not all was sent")
    func earlyAnswer() async throws {
        let server = try await SessionServer(in: scratch)
        let (body, _) = try MultipartBody.sample(30_000_000, in: scratch)
        let response = try await session.upload(body, for: server.request("/answer-after/1000/413"))
        #expect(response.status == 413)
        #expect(!response.sentCompletely)
        #expect(response.sentBytes < 30_000_000)
    }

    @Test("nginx refuses a body that is too long by 413")
    func nginxLimit() async throws {
        let server = try await ServerProcess.started("nginx_server.py")
        let (body, _) = try MultipartBody.sample(3_000_000, in: scratch)
        let response = try await session.upload(body, for: URLRequest(url: try server.endpoint("/small")))
        #expect(response.status == 413)
    }

    @Test("A response longer than the limit is an error", arguments: ["/bytes/200000", "/chunked/200000"])
    func responseTooLarge(path: String) async throws {
        let server = try await SessionServer(in: scratch)
        let (body, _) = try MultipartBody.sample(10, in: scratch)
        var options = SessionOptions()
        options.responseBodyLimit = 100_000
        let request = try server.request(path)
        let error = await failure { [session, options] () async throws(SessionError) in
            try await session.upload(body, for: request, options: options)
        }
        #expect(error?.code == .responseTooLarge)
        #expect(error?.sentBytes == body.contentLength)
        options.responseBodyLimit = 200_000
        #expect(try await session.upload(body, for: request, options: options).body == Data(pattern(200_000)))
    }

    // MARK: What fails

    @Test("A server that closes in the middle of the body is a lost connection, with what was sent")
    func closeMidway() async throws {
        let server = try await SessionServer(in: scratch)
        let (body, _) = try MultipartBody.sample(30_000_000, in: scratch)
        let request = try server.request("/close-after/100000")
        let error = await failure { [session] () async throws(SessionError) in
            try await session.upload(body, for: request)
        }
        #expect(error?.code == .connectionLost)
        #expect((error?.sentBytes ?? 0) >= 100_000)
        #expect(error?.url == request.url?.absoluteString)
    }

    @Test("A response that is cut short is an error")
    func cutResponse() async throws {
        let server = try await SessionServer(in: scratch)
        let (body, _) = try MultipartBody.sample(10, in: scratch)
        let request = try server.request("/cut/1000/10")
        let error = await failure { [session] () async throws(SessionError) in
            try await session.upload(body, for: request)
        }
        #expect(error?.code == .truncated)
    }

    @Test("A file truncated while it is sent fails the upload with the part's own error", arguments: [true, false])
    func truncatedFile(hasKnownLength: Bool) async throws {
        let server = try await SessionServer(in: scratch)
        let file = try scratch.fileURL("film.mkv", TemporaryDirectory.noise(30_000_000))
        var form = MultipartForm()
        try form.addFile(name: "film", url: file)
        if !hasKnownLength {
            try form.append(.file("none", GeneratorSource.restartable { { _ in } }, filename: "none"))
        }
        let body = try form.body()
        try cut(file, to: 1_000_000)
        let request = try server.request("/ok")
        let error = await failure { [session] () async throws(SessionError) in
            try await session.upload(body, for: request)
        }
        #expect(error?.code == .bodyFailed)
        #expect(error?.bodyError?.code == .fileShrank)
        #expect(error?.bodyError?.part?.name == "film")
        #expect(error?.bodyError?.path == file.path)
        #expect(server.requestCount == 0 ? true : try await !server.recording().facts.complete)
    }

    @Test("A source that throws at once makes no request at all")
    func throwsAtOnce() async throws {
        let server = try await SessionServer(in: scratch)
        var form = MultipartForm()
        try form.append(.file("broken", GeneratorSource.restartable { { _ in throw Failure() } }, filename: "x"))
        let body = try form.body()
        let request = try server.request("/ok")
        let error = await failure { [session] () async throws(SessionError) in
            try await session.upload(body, for: request)
        }
        #expect(error?.code == .bodyFailed)
        #expect(error?.bodyError?.underlyingError is Failure)
        #expect(error?.sentBytes == 0)
        #expect(server.requestCount == 0)
    }

    @Test("What cannot be asked is refused before anything is connected to")
    func invalidRequests() async throws {
        let (body, _) = try MultipartBody.sample(10, in: scratch)
        var requests = try ["ftp://127.0.0.1/", "file:///etc/passwd", "http:///x", "/relative"].map {
            URLRequest(url: try #require(URL(string: $0)))
        }
        var head = URLRequest(url: try #require(URL(string: "http://127.0.0.1:1/")))
        head.httpMethod = "HEAD"
        requests.append(head)
        for request in requests {
            let error = await failure { [session] () async throws(SessionError) in
                try await session.upload(body, for: request)
            }
            #expect(error?.code == .invalidRequest, "\(request)")
        }
    }

    @Test("Nobody listening, and no such host, are told apart, and nothing was sent")
    func noConnection() async throws {
        let (body, _) = try MultipartBody.sample(10, in: scratch)
        for (url, code) in [
            ("http://user:secret@127.0.0.1:1/", SessionError.Code.couldNotConnect),
            ("http://nowhere.invalid/", .couldNotResolve),
        ] {
            let request = URLRequest(url: try #require(URL(string: url)))
            let error = await failure { [session] () async throws(SessionError) in
                try await session.upload(body, for: request)
            }
            #expect(error?.code == code)
            #expect(error?.sentBytes == 0)
            #expect(!String(describing: error).contains("secret"))
        }
    }

    @Test("A certificate of an authority that nobody trusts ends the upload before anything is sent")
    func wrongAuthority() async throws {
        let certificates = scratch.url.appendingPathComponent("tls")
        try run(ServerProcess.python, [ServerProcess.interop("make_certificates.py"), certificates.path])
        let server = try await ServerProcess.started("upload_server.py", "--tls", certificates.path)
        let (body, _) = try MultipartBody.sample(10, in: scratch)
        let request = URLRequest(url: try #require(URL(string: server.secureURL("/upload"))))
        let error = await failure { [session] () async throws(SessionError) in
            try await session.upload(body, for: request)
        }
        #expect(error?.code == .tls)
        #expect(error?.sentBytes == 0)
    }

    @Test("A server that never answers ends by the request's timeout, or by the limit of the whole transfer")
    func timeouts() async throws {
        let server = try await SessionServer(in: scratch)
        let (body, _) = try MultipartBody.sample(10, in: scratch)
        var request = try server.request("/hang")
        request.timeoutInterval = 3
        let idle = await failure { [session, request] () async throws(SessionError) in
            try await session.upload(body, for: request)
        }
        #expect(idle?.code == .timeout)
        #expect(idle?.sentBytes == body.contentLength)

        request.timeoutInterval = 60
        var options = SessionOptions()
        options.totalTimeout = .milliseconds(300)
        let total = await failure { [session, request, options] () async throws(SessionError) in
            try await session.upload(body, for: request, options: options)
        }
        #expect(total?.code == .timeout)

        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForResource = 0.3
        let inherited = await failure { [request] () async throws(SessionError) in
            try await URLSession(configuration: configuration).upload(body, for: request)
        }
        #expect(inherited?.code == .timeout)
    }
}
