import Foundation
import Sluice
import SluiceFoundation
import SluiceTestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Bodies whose sources take their time, next to transfers that do not.
///
/// Serialised, because on Linux a test that makes `URLSession` wait makes it wait for all tests.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SessionWaitingTests {
    private let scratch: TemporaryDirectory
    private let session = URLSession(configuration: .ephemeral)

    init() throws {
        scratch = try TemporaryDirectory()
    }

    @Test("While a source is waited for, other sessions, and other uploads in this one, go on")
    func slowNextToFast() async throws {
        let server = try await SessionServer(in: scratch)
        let request = try server.request("/ok")
        let gate = DispatchSemaphore(value: 0)
        let isWaiting = Flag()
        // Goes on only when the others are done: if they had to wait for it, nobody ever would be.
        let source = GeneratorSource.restartable {
            var step = 0
            return { buffer in
                step += 1
                if step > 20 { return }
                if step == 10 {
                    isWaiting.set()
                    _ = gate.wait(timeout: .now() + 60)
                }
                for _ in 0..<1000 where buffer.freeCapacity > 0 { buffer.append(UInt8(ascii: "a") + UInt8(step)) }
            }
        }
        var form = MultipartForm()
        try form.append(.file("slow", source, filename: "x"))
        let slow = try form.body()
        var options = SessionOptions()
        options.gatheringLimit = .seconds(120)
        async let waiting = session.upload(slow, for: request, options: options)
        #expect(await eventually { isWaiting.isSet })

        let (fast, bytes) = try MultipartBody.sample(100_000, in: scratch)
        for number in 1...10 {
            let other = number.isMultiple(of: 2) ? session : URLSession(configuration: .ephemeral)
            #expect(try await other.upload(fast, for: request).status == 200)
            #expect(try await server.recording(number).body == bytes)
        }
        gate.signal()
        #expect(try await waiting.status == 200)
        #expect(try await server.recording(11).facts.size > 20_000)
    }

    @Test("A body larger than what is read ahead arrives whole", arguments: [1, 7, 1000, 100_000])
    func smallReadAhead(size: Int) async throws {
        let server = try await SessionServer(in: scratch)
        let body = try SampleBody.unknown.form(in: scratch).body()
        var options = SessionOptions()
        options.readAhead = size
        options.gatheringLimit = .zero
        let reports = Reports()
        let response = try await session.upload(
            body,
            for: server.request("/ok"),
            options: options,
            progress: reports.append
        )
        try await expectWhole(body, response, in: scratch)
        #expect(reports.all.last?.completedBytes == response.sentBytes)
        #expect(reports.all.last?.part?.label.name == body.parts.last?.name)
        #expect(reports.all.allSatisfy { $0.attempt == 1 })
    }

    @Test(
        "Cancelling ends an upload whose source waits, before its request and in its middle",
        arguments: [true, false]
    )
    func cancelWhileWaiting(gathers: Bool) async throws {
        let server = try await SessionServer(in: scratch)
        let (body, continuation) = try MultipartBody.live()
        continuation.yield(Data(pattern(1000)))
        var options = SessionOptions()
        options.gatheringLimit = gathers ? .seconds(120) : .zero
        let request = try server.request("/ok")
        let upload = Task { [session, options] in
            await failure { () async throws(SessionError) in
                try await session.upload(body, for: request, options: options)
            }
        }
        if gathers {
            try await Task.sleep(for: .milliseconds(200))
        } else {
            #expect(await eventually { server.requestCount == 1 })
        }
        upload.cancel()
        let error = await upload.value
        #expect(error?.code == .cancelled)
        #expect((error?.sentBytes == 0) == gathers)
        #expect(server.requestCount == (gathers ? 0 : 1))
        // Nothing holds the others up any more.
        let (fast, _) = try MultipartBody.sample(10, in: scratch)
        #expect(try await session.upload(fast, for: request).status == 200)
        continuation.finish()
    }

    @Test("A source that gives nothing for the request's timeout ends the upload", arguments: [true, false])
    func stalledSource(gathers: Bool) async throws {
        let server = try await SessionServer(in: scratch)
        let (body, continuation) = try MultipartBody.live()
        continuation.yield(Data(pattern(1000)))
        var options = SessionOptions()
        options.gatheringLimit = gathers ? .milliseconds(100) : .zero
        var request = try server.request("/ok")
        request.timeoutInterval = 3
        let error = await failure { [session, options, request] () async throws(SessionError) in
            try await session.upload(body, for: request, options: options)
        }
        #expect(error?.code == .timeout)
        #expect(error?.reason.contains("source") == true)
        continuation.finish()
    }

    @Test(
        "No time is too long or too short to be a limit",
        arguments: [.seconds(Int64.max), .seconds(1e19), .seconds(3e9), .zero, .seconds(-1), .seconds(Int64.min)]
            as [Duration]
    )
    func extremeLimits(limit: Duration) async throws {
        let server = try await SessionServer(in: scratch)
        var options = SessionOptions()
        options.gatheringLimit = limit
        let body = try MultipartBody.onceOnly("text")
        #expect(try await session.upload(body, for: server.request("/ok"), options: options).status == 200)
        options.totalTimeout = limit
        let request = try server.request(limit > .zero ? "/ok" : "/hang")
        let error = await failure { [session, options] () async throws(SessionError) in
            try await session.collect(request, upTo: 1000, options: options)
        }
        #expect(error?.code == (limit > .zero ? nil : .timeout))
    }

    @Test("A task that is cancelled already asks for nothing")
    func cancelledBefore() async throws {
        let server = try await SessionServer(in: scratch)
        let (body, _) = try MultipartBody.sample(10, in: scratch)
        let request = try server.request("/ok")
        let upload = Task { [session] in
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return await failure { () async throws(SessionError) in try await session.upload(body, for: request) }
        }
        #expect(await upload.value?.code == .cancelled)
        #expect(server.requestCount == 0)
    }

    @Test("Cancelling ends uploads that the server holds up, and those that wait for the answer")
    func cancelStalled() async throws {
        let stalled = try await ServerProcess.started("raw_server.py", "--mode", "stall")
        let server = try await SessionServer(in: scratch)
        let (body, _) = try MultipartBody.sample(30_000_000, in: scratch)
        for request in [URLRequest(url: try stalled.endpoint("/")), try server.request("/hang")] {
            let reports = Reports()
            let upload = Task { [session] in
                await failure { () async throws(SessionError) in
                    try await session.upload(body, for: request, progress: reports.append)
                }
            }
            #expect(await eventually { !reports.all.isEmpty })
            let start = SuspendingClock.now
            upload.cancel()
            let error = await upload.value
            #expect(SuspendingClock.now - start < .seconds(10))
            #expect(error?.code == .cancelled)
            #expect((error?.sentBytes ?? 0) > 0)
            #expect(reports.all.last?.isLast == true)
            #expect(reports.all.last?.isFinished == (error?.sentBytes == body.contentLength))
        }
    }

    #if os(Linux)
    // MARK: What is left, in processes of their own

    @Test("200 uploads and downloads leave no descriptor, no thread and no object behind")
    func sequential() async throws {
        let server = try await ServerProcess.started("upload_server.py")
        await #expect(processExitsWith: .success) {
            [url = server.url("") as String, directory = scratch.path as String] in
            try await Leftovers.expectNone {
                for index in 0..<200 { try await Leftovers.transfer(index, url, directory) }
            }
        }
    }

    @Test("Transfers that are cancelled or fail leave nothing behind either")
    func cancelled() async throws {
        let server = try await SessionServer(in: scratch)
        await #expect(processExitsWith: .success) {
            [url = server.process.url("") as String, directory = scratch.path as String] in
            try await Leftovers.expectNone {
                for index in 0..<20 { try await Leftovers.cancelledTransfer(index, url, directory) }
            }
        }
    }
    #endif
}

#if os(Linux)
/// Compares what the process holds before and after.
private enum Leftovers {
    private final class Canary: Sendable {}

    static func expectNone(_ work: () async throws -> Void) async throws {
        // Once before, for what the runtime and libcurl open for good.
        try await work()
        #expect(await ProcessState.settles(within: 30) { !ProcessState.threadNames().contains("sluice-ahead") })
        let descriptors = ProcessState.openDescriptors().count
        let threads = ProcessState.threadNames().count
        try await work()
        #expect(await ProcessState.settles(within: 30) { ProcessState.openDescriptors().count <= descriptors })
        #expect(await ProcessState.settles(within: 30) { !ProcessState.threadNames().contains("sluice-ahead") })
        // Dispatch keeps a few for as long as it likes.
        #expect(ProcessState.threadNames().count <= threads + 4, "\(ProcessState.threadNames())")
    }

    static func transfer(_ index: Int, _ url: String, _ directory: String) async throws {
        let session = URLSession(configuration: .ephemeral)
        weak var weakCanary: Canary?
        switch index % 4 {
        case 0:
            let file = URL(fileURLWithPath: "\(directory)/file")
            let request = URLRequest(url: try #require(URL(string: "\(url)/big-response?bytes=100000")))
            for try await _ in session.download(for: request, to: file) {}
        default:
            let canary = Canary()
            weakCanary = canary
            let source = GeneratorSource.restartable(knownLength: index % 4 == 1 ? 1000 : nil) { [canary] in
                var left = 1000
                return { [canary] buffer in
                    withExtendedLifetime(canary) {}
                    while left > 0, buffer.freeCapacity > 0 {
                        buffer.append(0x78)
                        left -= 1
                    }
                }
            }
            var form = MultipartForm()
            try form.append(.file("f", source, filename: "x"))
            let path = index % 4 == 3 ? "/redirect/307?to=/upload&drain=1" : "/upload"
            let request = URLRequest(url: try #require(URL(string: url + path)))
            #expect(try await session.upload(form.body(), for: request).status == 200)
        }
        #expect(await ProcessState.settles(within: 30) { weakCanary == nil })
    }

    static func cancelledTransfer(_ index: Int, _ url: String, _ directory: String) async throws {
        let session = URLSession(configuration: .ephemeral)
        let (sequence, continuation) = AsyncStream.makeStream(of: Data.self)
        var form = MultipartForm()
        let path = "\(directory)/upload"
        if !FileManager.default.fileExists(atPath: path) { try Data(count: 30_000_000).write(to: URL(filePath: path)) }
        if index.isMultiple(of: 2) {
            try form.append(.file("live", AsyncSource(sequence), filename: "x"))
        } else {
            try form.addFile(name: "f", url: URL(fileURLWithPath: path))
        }
        let body = try form.body()
        let targets = ["/hang", "/ok", "/close-after/10", "/drip/1000/0.1"]
        let request = URLRequest(url: try #require(URL(string: url + targets[index % 4])))
        var options = SessionOptions()
        options.gatheringLimit = .milliseconds(10)
        let task = Task { [options] in
            if index % 4 == 3 {
                for try await _ in session.download(for: request, to: URL(filePath: "\(directory)/file")) {}
            } else {
                _ = try await session.upload(body, for: request, options: options)
            }
        }
        try await Task.sleep(for: .milliseconds(index * 7))
        task.cancel()
        _ = await task.result
        continuation.finish()
        let isOpen = { ProcessState.openDescriptors().values.contains { $0 == path || $0.hasSuffix(".part") } }
        #expect(await ProcessState.settles(within: 30) { !isOpen() })
    }
}
#endif
