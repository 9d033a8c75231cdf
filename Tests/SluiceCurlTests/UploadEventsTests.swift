import Sluice
import SluiceCurl
import SluiceTestSupport
import Testing

@Suite struct UploadEventsTests {
    private let client = CurlClient()

    @Test func `An upload's events are its progress and at last the response`() async throws {
        let server = try await ServerProcess.started("raw_server.py", "--mode", "slow-read", "--rate", "8000000")
        let body = try Fixtures.form(6_000_000)
        var progress: [TransferProgress] = []
        var responses: [CurlResponse] = []
        for try await event in client.uploadEvents(body, CurlRequest(url: server.url("/"))) {
            #expect(responses.isEmpty)
            switch event {
            case .progress(let report): progress.append(report)
            case .retrying(let notice): Issue.record("\(notice)")
            case .response(let response): responses.append(response)
            }
        }
        #expect(responses.map(\.status) == [200])
        #expect(progress.count >= 2)
        #expect(progress.last?.isFinished == true)
        #expect(progress.last?.completedBytes == body.contentLength)
    }

    @Test func `A consumer that is slow misses progress, and nothing else`() async throws {
        let place = try await Fixtures.faults.place("503", "503", "503")
        var request = CurlRequest(url: place.upload)
        request.retry = .quick(4)
        var words: [String] = []
        for try await event in client.uploadEvents(try Fixtures.form(2_000_000), request) {
            try await Task.sleep(for: .milliseconds(300))
            switch event {
            case .progress: if words.last != "progress" { words.append("progress") }
            case .retrying(let notice): words.append("retry \(notice.attempt)")
            case .response(let response): words.append("\(response.status)")
            }
        }
        #expect(words.filter { $0 != "progress" } == ["retry 2", "retry 3", "retry 4", "200"])
    }

    @Test func `An error is thrown behind the events`() async throws {
        let body = try Fixtures.form()
        var count = 0
        await #expect(throws: TransferError.self) {
            for try await _ in client.uploadEvents(body, CurlRequest(url: "http://127.0.0.1:1/")) { count += 1 }
        }
        #expect(count >= 1)
    }

    @Test func `Nothing is sent before the first event is asked for, and each iteration is an upload`() async throws {
        let place = try await Fixtures.faults.place()
        let events = client.uploadEvents(try Fixtures.form(), CurlRequest(url: place.upload))
        _ = events.makeAsyncIterator()
        #expect(try await place.requests().isEmpty)
        for try await _ in events {}
        for try await _ in events {}
        #expect(try await place.requests().count == 2)
    }

    @Test func `Nothing comes behind the response`() async throws {
        let place = try await Fixtures.faults.place()
        var iterator = client.uploadEvents(try Fixtures.form(), CurlRequest(url: place.upload)).makeAsyncIterator()
        while let event = try await iterator.next() {
            if case .response = event { break }
        }
        #expect(try await iterator.next() == nil)
        #expect(try await iterator.next() == nil)
    }

    @Test(arguments: ["break", "cancel"])
    func `Breaking off the iteration or cancelling its task ends the upload`(way: String) async throws {
        let server = try await ServerProcess.started("raw_server.py", "--mode", "stall")
        await #expect(processExitsWith: .success) { [url = server.url("/") as String, way = way as String] in
            let client = CurlClient()
            let body = try MultipartForm {
                Part.file("data", bytes: [UInt8](repeating: 1, count: 32 << 20), filename: "d")
            }.body()
            var request = CurlRequest(url: url)
            request.expectContinue = .never
            let lines = Lines()
            let sockets = Box<Int>()
            request.debug = { lines.add($0) }
            let upload = Task { [request] in
                for try await event in client.uploadEvents(body, request) {
                    guard case .progress = event, way == "break" else { continue }
                    #expect(await ProcessState.settles { !lines.texts(.requestHeader).isEmpty })
                    sockets.value = Self.sockets
                    break
                }
            }
            if way == "cancel" {
                #expect(await ProcessState.settles { !lines.texts(.requestHeader).isEmpty })
                sockets.value = Self.sockets
                upload.cancel()
            }
            let result = await upload.result
            if way == "break" { try result.get() } else { #expect(throws: TransferError.self) { try result.get() } }
            let most = try #require(sockets.value)
            #expect(await ProcessState.settles { Self.sockets < most })
            await client.close()
        }
    }

    private static var sockets: Int {
        ProcessState.openDescriptors().values.filter { $0.hasPrefix("socket:") }.count
    }
}
