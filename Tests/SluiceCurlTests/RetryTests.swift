import Sluice
import SluiceTestSupport
import Testing

@testable import SluiceCurl

/// What is tried again, over a network.
@Suite struct RetryTests {
    private let client = CurlClient()
    private let body: MultipartBody

    init() throws {
        body = try Fixtures.form(300_000)
    }

    private func request(_ method: String, _ url: String, attempts: Int = 4) -> CurlRequest {
        var request = CurlRequest(method, url: url)
        request.retry = .quick(attempts)
        request.expectContinue = .never
        return request
    }

    private var length: Int { Int(body.contentLength ?? 0) }

    @Test(arguments: ["POST", "PUT"], ["503", "429/0", "408", "503/+0"])
    func `An upload is sent again after an answer that asks for it`(method: String, status: String) async throws {
        let place = try await Fixtures.faults.place(status, status)
        let reports = Reports()
        let response = try await client.upload(body, request(method, place.upload)) { reports.add($0) }
        #expect(response.status == 200)
        #expect(response.attempts == 3)
        #expect(try Received(response).size == length)
        #expect(try Received(response).attempt == 3)
        #expect(Set(reports.all.map(\.attempt)) == [1, 2, 3])
        #expect(reports.all.last?.isFinished == true)
    }

    @Test func `The last answer is the response where no attempt is left`() async throws {
        let place = try await Fixtures.faults.place("503", "503", "503")
        let response = try await client.upload(body, request("POST", place.upload, attempts: 2))
        #expect(response.status == 503)
        #expect(response.attempts == 2)
        #expect(String(decoding: response.body, as: UTF8.self) == "refused with 503\n")
        #expect(try await place.requests().count == 2)
    }

    @Test(arguments: [0, 1, 65_536, 200_000], ["reset", "close"])
    func `A lost connection is followed by another attempt for PUT, and not for POST`(
        count: Int,
        fault: String
    ) async throws {
        let put = try await Fixtures.faults.place("\(fault)@\(count)")
        let response = try await client.upload(body, request("PUT", put.upload))
        #expect(try Received(response).size == length)
        #expect(response.attempts == 2)

        let post = try await Fixtures.faults.place("\(fault)@\(count)")
        #expect(await failure { try await client.upload(body, request("POST", post.upload)) }?.code == .connectionLost)
        #expect(try await post.requests().count == 1)

        let asked = try await Fixtures.faults.place("\(fault)@\(count)")
        var repeating = request("POST", asked.upload)
        repeating.retry.repeatsAnyMethod = true
        #expect(try await client.upload(body, repeating).attempts == 2)
    }

    @Test func `A connection that was used before and breaks is no reason to send a POST twice`() async throws {
        for count in [1, 200_000] {
            // Both on one connection, which a client keeps.
            let client = CurlClient()
            let place = try await Fixtures.faults.place("ok", "reset@\(count)")
            var request = request("POST", place.upload)
            request.retry = .never
            #expect(try await client.upload(body, request).status == 200)
            let error = try #require(await failure { try await client.upload(body, request) })
            #expect(error.code == .connectionLost)
            #expect(try await place.requests().count == 2)
            request.method = "PUT"
            request.url = try await Fixtures.faults.place("ok", "reset@\(count)").upload
            #expect(try await client.upload(body, request).status == 200)
            #expect(try await client.upload(body, request).status == 200)
        }
    }

    @Test func `Connections that break anywhere in an upload are followed by a whole one`() async throws {
        for count in stride(from: 0, through: length - 1, by: 30_011) {
            let place = try await Fixtures.faults.place("reset@\(count)")
            let response = try await client.upload(body, request("PUT", place.upload))
            #expect(try Received(response).size == length)
            #expect(try await place.requests().count == 2)
        }
    }

    @Test func `A port that nobody listens on is tried as often as was asked for`() async throws {
        let events = Notices()
        let request = request("POST", "http://127.0.0.1:1/", attempts: 3)
        var last: TransferError?
        do throws(TransferError) {
            for try await event in client.uploadEvents(body, request) {
                if case .retrying(let notice) = event { events.add(notice) }
            }
        } catch {
            last = error
        }
        #expect(last?.code == .couldNotConnect)
        #expect(events.all.map(\.attempt) == [2, 3])
        for notice in events.all {
            guard case .error(let error) = notice.reason else {
                Issue.record("\(notice)")
                continue
            }
            #expect(error.code == .couldNotConnect)
            #expect(notice.delay <= .milliseconds(5))
        }
    }

    @Test func `A server that comes up between two attempts gets the upload`() async throws {
        let directory = try TemporaryDirectory()
        // A unix socket, since a port that was free may be another's by then.
        let socket = "\(directory.path)/socket"
        var request = request("POST", "http://localhost/upload", attempts: 10_000)
        request.unixSocket = socket
        let notices = Notices()
        let upload = Task { [request] in
            var response: CurlResponse?
            for try await event in client.uploadEvents(body, request) {
                switch event {
                case .retrying(let notice): notices.add(notice)
                case .response(let last): response = last
                case .progress: break
                }
            }
            return response
        }
        #expect(await eventually { !notices.all.isEmpty })
        let server = try await ServerProcess.started("upload_server.py", "--unix", socket)
        let response = try #require(try await upload.value)
        try Account(response).expectForm(300_000)
        #expect(response.attempts > 1)
        withExtendedLifetime(server) {}
    }

    // MARK: Bodies that can be read once

    @Test func `A body that can be read once is not sent again, and the error says so`() async throws {
        let place = try await Fixtures.faults.place("reset@200000")
        let error = try #require(
            await failure { try await client.upload(Fixtures.onceForm(300_000), request("PUT", place.upload)) }
        )
        #expect(error.code == .connectionLost)
        #expect(error.reason.contains("read only once"))
        #expect(try await place.requests().count == 1)
    }

    @Test func `The answer is the response where the body can be read once`() async throws {
        let place = try await Fixtures.faults.place("503")
        let response = try await client.upload(Fixtures.onceForm(300_000), request("PUT", place.upload))
        #expect(response.status == 503)
        #expect(response.attempts == 1)
    }

    @Test func `A body that can be read once and was not read yet is sent later`() async throws {
        let directory = try TemporaryDirectory()
        let socket = "\(directory.path)/socket"
        for knownLength in [true, false] {
            var request = request("POST", "http://localhost/upload", attempts: 10_000)
            request.unixSocket = socket
            let body = try Fixtures.onceForm(1000, knownLength: knownLength)
            let upload = Task { [request] in try await client.upload(body, request) }
            let server = try await ServerProcess.started("upload_server.py", "--unix", socket)
            try Account(await upload.value).expectForm(1000)
            withExtendedLifetime(server) {}
        }
    }

    // MARK: Waiting

    @Test func `Cancelling ends a wait at once`() async throws {
        var request = request("POST", "http://127.0.0.1:1/")
        request.retry.baseDelay = .seconds(3600)
        request.retry.maximumDelay = .seconds(3600)
        let (began, continuation) = AsyncStream.makeStream(of: Void.self)
        let upload = Task { [request] in
            do throws(TransferError) {
                for try await event in client.uploadEvents(body, request) {
                    if case .retrying = event { continuation.yield() }
                }
                return nil as TransferError?
            } catch {
                return error
            }
        }
        for await _ in began { break }
        let start = SuspendingClock.now
        upload.cancel()
        #expect(await upload.value?.code == .cancelled)
        // On any machine sooner than the hour that it would have waited.
        #expect(SuspendingClock.now - start < .seconds(600))
    }

    @Test func `The time for the whole counts while it waits`() async throws {
        var request = request("POST", "http://127.0.0.1:1/", attempts: 100_000)
        request.retry.baseDelay = .milliseconds(100)
        request.retry.maximumDelay = .milliseconds(100)
        request.totalTimeout = .milliseconds(500)
        let start = SuspendingClock.now
        let error = await failure { try await client.upload(body, request) }
        #expect([.timeout, .couldNotConnect].contains(error?.code))
        // As many attempts would take an hour at the least.
        #expect(SuspendingClock.now - start < .seconds(600))
    }

    @Test func `A wait is as long as it was said to be`() async throws {
        let place = try await Fixtures.faults.place("503/1")
        let start = SuspendingClock.now
        let response = try await client.upload(body, request("POST", place.upload))
        #expect(response.status == 200)
        #expect(SuspendingClock.now - start >= .seconds(1))
    }

    @Test func `Many waits take no thread`() async throws {
        var request = request("POST", "http://127.0.0.1:1/")
        request.retry.baseDelay = .seconds(3600)
        request.retry.maximumDelay = .seconds(3600)
        await #expect(processExitsWith: .success) { [request = request.url as String] in
            var policy = RetryPolicy()
            policy.baseDelay = .seconds(3600)
            var patient = CurlRequest(url: request)
            patient.retry = policy
            let client = CurlClient()
            let body = try MultipartForm { Part.field("a", "b") }.body()
            let waiting = Notices()
            let uploads = (0..<100).map { _ in
                Task { [patient] in
                    for try await event in client.uploadEvents(body, patient) {
                        if case .retrying(let notice) = event { waiting.add(notice) }
                    }
                }
            }
            #expect(await ProcessState.settles { waiting.all.count == 100 })
            let names = ProcessState.threadNames().filter { $0.hasPrefix("sluice-") }
            #expect(names == ["sluice-curl"], "\(names)")
            for upload in uploads { upload.cancel() }
            for upload in uploads { _ = await upload.result }
            await client.close()
        }
    }

    // MARK: Digest, redirects

    @Test(arguments: ["POST", "PUT"], ["503", "429/0", "drop", "reset@0"])
    func `A GET to which an upload led is tried again by itself`(method: String, fault: String) async throws {
        for body in [body, try Fixtures.onceForm(300_000)] {
            let place = try await Fixtures.faults.place("see", fault, fault)
            let reports = Reports()
            let response = try await client.upload(body, request(method, place.upload)) { reports.add($0) }
            #expect(response.status == 200)
            #expect(response.method == "GET")
            // Where the connection that it has kept turns out to be dead, libcurl asks again by itself.
            #expect((2...3).contains(response.attempts))
            #expect(response.redirectCount == 1)
            #expect(response.sentCompletely)
            // The server has acted on the body: it gets it once.
            let requests = try await place.requests()
            #expect(requests.map(\.method) == [method, "GET", "GET", "GET"])
            #expect(requests.map(\.size) == [length, 0, 0, 0])
            #expect(reports.all.last?.isFinished == true)
            #expect(reports.all.filter { $0.attempt > 1 }.allSatisfy { $0.completedBytes == Int64(length) })
        }
    }

    @Test func `An attempt begins with the first URL again`() async throws {
        let faults = try await Fixtures.faults
        let place = faults.place("503")
        let server = try await Fixtures.server
        let target = place.upload.replacing("&", with: "%26")
        let response = try await client.upload(
            body,
            request("POST", server.url("/redirect/307?drain=1&to=\(target)"))
        )
        #expect(response.status == 200)
        #expect(response.redirectCount == 1)
        #expect(response.attempts == 2)
        #expect(try await place.requests().count == 2)
    }

    @Test(arguments: [
        "/flaky/KEY?failures=2&drain=1", "/flaky/KEY?failures=2", "/flaky/KEY?failures=1&retry-after=0&status=429",
    ])
    func `aiohttp's refusals are followed by the whole form`(path: String) async throws {
        let server = try await Fixtures.server
        let url = server.url(path.replacing("KEY", with: "retry\(Int.random(in: 0..<Int.max))"))
        let response = try await client.upload(body, request("POST", url))
        try Account(response).expectForm(300_000)
        #expect(response.attempts > 1)
    }

    @Test func `A source that fails is not read again`() async throws {
        struct Broken: Error {}
        let source = AsyncSource.restartable { ChunkSequence([1, 2, 3], size: 1, failure: Broken()) }
        let body = try MultipartForm { Part.file("broken", source, filename: "b") }.body()
        let notices = Notices()
        let url = try await Fixtures.server.url("/raw")
        var last: TransferError?
        do throws(TransferError) {
            for try await event in client.uploadEvents(body, request("PUT", url)) {
                if case .retrying(let notice) = event { notices.add(notice) }
            }
        } catch {
            last = error
        }
        #expect(last?.code == .bodyFailed)
        #expect(notices.all.isEmpty)
    }
}
