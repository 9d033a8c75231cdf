import Foundation
import Sluice
import SluiceFoundation
import SluiceTestSupport
import Synchronization
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking

/// What FoundationNetworking does with a stream, none of which is documented and some of which SluiceFoundation builds on.
///
/// A test that fails here says that Foundation has changed: look what that makes of
/// `URLRequest.setMultipartBody(_:progress:)` and `BodyInputStream`, then change the test.
@Suite(.serialized, .timeLimit(.minutes(5))) struct URLSessionBehaviourTests {
    private let scratch: TemporaryDirectory
    private let server: ServerProcess
    private let records: URL

    init() throws {
        scratch = try TemporaryDirectory()
        records = scratch.url.appendingPathComponent("records")
        server = try ServerProcess("raw_server.py", "--mode", "record", "--record", records.path)
    }

    @Test("A stream beside a Content-Length goes out with two framings, against RFC 9112 section 6.2")
    func twoFramings() async throws {
        let recording = try await record(["Content-Length": "1000"], ScriptedStream(1000))
        #expect(recording.values(of: "Content-Length") == ["1000"])
        #expect(recording.values(of: "Transfer-Encoding") == ["chunked"])
    }

    @Test("A Transfer-Encoding of one space leaves the Content-Length alone on the wire")
    func oneSpace() async throws {
        let fields = ["Content-Length": "1000", "Transfer-Encoding": " "]
        let recording = try await record(fields, ScriptedStream(1000))
        #expect(recording.values(of: "Content-Length") == ["1000"])
        #expect(!recording.lines.contains { $0.lowercased().hasPrefix("transfer-encoding") })
        #expect(recording.body == Data(repeating: 0x78, count: 1000))
        #expect(recording.facts.complete)
    }

    @Test("A stream is not kept to its Content-Length, so it has to keep to it by itself")
    func tooLong() async throws {
        let fields = ["Content-Length": "900", "Transfer-Encoding": " ", "Connection": "close"]
        let stream = ScriptedStream(1000)
        let recording = try await record(fields, stream)
        #expect(recording.facts.size == 900)
        #expect(stream.given == 1000)
    }

    @Test("No bytes available is taken for the end, and the cut body for a whole one")
    func noBytesAvailable() async throws {
        let stream = ScriptedStream(1_000_000, pausesAt: 100_000)
        let recording = try await record([:], stream)
        #expect(recording.facts.complete)
        #expect(recording.facts.size == 100_000)
    }

    @Test("A read that fails ends the request, and the stream's own error is lost")
    func failingRead() async throws {
        var request = URLRequest(url: try server.endpoint("/"))
        request.httpMethod = "POST"
        request.httpBodyStream = ScriptedStream(1_000_000, failsAt: 100_000)
        let answer = await send(request)
        #expect(answer.status == nil)
        let error = try #require(answer.error as NSError?)
        #expect(error.domain == NSURLErrorDomain)
        #expect(error.code == NSURLErrorUnknown)
        #expect(!"\(error.userInfo)".contains("scripted"))
        #expect(try await !Recording(in: records).facts.complete)
    }

    @Test("While a stream's read waits, every session waits, even to make a task")
    func sharedQueue() async throws {
        let url = try server.endpoint("/")
        let pipe = Pipe()
        var form = MultipartForm()
        try form.append(.file("pipe", try FileSource(fileHandle: pipe.fileHandleForReading), filename: "x"))
        var request = URLRequest(url: url)
        let upload = request.setMultipartBody(try form.body())
        let waiting = request
        async let first = send(waiting)
        #expect(await eventually { upload.position > 0 })

        let isMade = Flag()
        Thread.detachNewThread {
            let session = URLSession(configuration: .ephemeral)
            session.dataTask(with: url).cancel()
            isMade.set()
            session.invalidateAndCancel()
        }
        try await Task.sleep(for: .milliseconds(300))
        #expect(!isMade.isSet)
        upload.close()
        #expect(await first.error != nil)
        #expect(await eventually { isMade.isSet })
        withExtendedLifetime(pipe) {}
    }

    @Test("An upload task with a streamed request asks for 100 Continue first, a data task with a stream does not")
    func expect() async throws {
        var request = URLRequest(url: try server.endpoint("/"))
        request.httpMethod = "POST"
        let sent = request
        let answer = await Delegate { ScriptedStream(1000) }.run { $0.uploadTask(withStreamedRequest: sent) }
        #expect(answer?.status == 200)
        #expect(try await Recording(in: records).values(of: "Expect") == ["100-continue"])
        request.httpBodyStream = ScriptedStream(1000)
        #expect(await send(request).status == 200)
        #expect(try await Recording(2, in: records).values(of: "Expect") == [])
    }

    @Test("A challenge for Basic without a credential leaves a task waiting, and its timeout does not end it")
    func challengeHangs() async throws {
        let server = try await SessionServer(in: scratch)
        var request = try server.request("/basic")
        request.timeoutInterval = 1
        let hasEnded = Flag()
        let (session, waiting) = (URLSession(configuration: .ephemeral), request)
        let task = session.dataTask(with: waiting) { _, _, _ in hasEnded.set() }
        task.resume()
        _ = try await server.recording()
        try await Task.sleep(for: .seconds(2))
        #expect(!hasEnded.isSet)
        task.cancel()
        #expect(await eventually { hasEnded.isSet })
        session.finishTasksAndInvalidate()
    }

    @Test("A followed 307 goes out without its body")
    func redirectLosesBody() async throws {
        let server = try await SessionServer(in: scratch)
        var request = try server.request("/status/307?Location=/ok", method: "POST")
        request.httpBodyStream = ScriptedStream(1000)
        let sent = request
        let answer = await Delegate(followsRedirects: true).run { $0.dataTask(with: sent) }
        #expect(answer?.status == 200)
        #expect(try await server.recording(1).facts.size == 1000)
        #expect(try await server.recording(2).facts.size == 0)
    }

    @Test("A followed redirect takes credentials along to another origin")
    func redirectLeaksCredentials() async throws {
        let server = try await SessionServer(in: scratch)
        let other = try await SessionServer(in: scratch)
        var request = try server.request("/status/302?Location=\(other.process.url("/ok"))")
        request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
        #expect(await send(request).status == 200)
        #expect(try await other.recording().values(of: "Authorization") == ["Bearer secret"])
    }

    @Test("No two protection spaces are equal, so that no stored credential is found")
    func protectionSpaces() throws {
        let spaces = (0..<2).map { _ in
            URLProtectionSpace(host: "h", port: 80, protocol: "http", realm: "r", authenticationMethod: nil)
        }
        #expect(spaces[0] != spaces[1])
    }

    @Test("The delegate queue is given an operation for every 16 KiB, where they are received, and may run them there")
    func delegateQueue() async throws {
        let server = try await SessionServer(in: scratch)
        let request = try server.request("/bytes/3000000")
        let queue = CountingQueue()
        let delegate = Delegate()
        let answer = await delegate.run(queue: queue) { $0.dataTask(with: request) }
        #expect(answer?.status == 200)
        #expect(queue.count > 3_000_000 / 16_384)
    }

    @Test("A task's own delegate hears nothing of a task without a completion handler, so the session's has to be ours")
    func taskDelegate() async throws {
        let server = try await SessionServer(in: scratch)
        let request = try server.request("/ok")
        let (own, of) = (Delegate(), Delegate())
        let answer = await of.run { session in
            let task = session.dataTask(with: request)
            task.delegate = own
            return task
        }
        #expect(answer?.status == 200)
        #expect(!own.hasHeard)
    }

    private func record(_ fields: [String: String], _ stream: InputStream) async throws -> Recording {
        var request = URLRequest(url: try server.endpoint("/"))
        request.httpMethod = "POST"
        request.httpBodyStream = stream
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        _ = await send(request)
        return try await Recording(in: records)
    }
}

/// A delegate queue that runs its operations at once, and counts them.
private final class CountingQueue: OperationQueue, @unchecked Sendable {
    private let counter = Mutex(0)

    var count: Int { counter.withLock { $0 } }

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        counter.withLock { $0 += 1 }
        block()
    }
}

/// A stream of `x` that does at some offset what a stream should not.
private final class ScriptedStream: InputStream {
    private struct Scripted: Error {}

    private let length: Int
    private let pause: Int
    private let failure: Int
    private(set) var given = 0
    private var isOpen = false

    init(_ length: Int, pausesAt pause: Int = .max, failsAt failure: Int = .max) {
        self.length = length
        self.pause = pause
        self.failure = failure
        super.init(data: Data())
    }

    override func open() { isOpen = true }
    override func close() {}
    override var streamStatus: Stream.Status { isOpen ? .open : .notOpen }
    override var streamError: (any Error)? { given == failure ? Scripted() : nil }
    override var hasBytesAvailable: Bool { given < min(length, pause) }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        if given == failure { return -1 }
        let count = min(maxLength, min(length, pause, failure) - given)
        unsafe UnsafeMutableBufferPointer(start: buffer, count: count).update(repeating: 0x78)
        given += count
        return count
    }
}
#endif
