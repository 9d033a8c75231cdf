import Foundation
import SluiceTestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// How a URLSession task ended.
struct Answer: Sendable {
    var status: Int?
    var body: Data
    var error: (any Error)?

    /// What Tests/Interop/upload_server.py says that it received.
    func received() throws -> Received {
        #expect(error == nil)
        #expect(status == 200, "\(String(decoding: body, as: UTF8.self))")
        return try JSONDecoder().decode(Received.self, from: body)
    }
}

/// A request as Tests/Interop/upload_server.py describes it.
struct Received: Decodable {
    var method: String
    var headers: [[String]]
    var parts: [ParsedPart]

    func values(of field: String) -> [String] {
        headers.filter { $0.first?.lowercased() == field.lowercased() }.map { $0.dropFirst().joined() }
    }
}

/// Sends a request by a data task in a session of its own.
///
/// On Linux all sessions share a queue, and even making a task waits for it: while one test's stream waits for an
/// async sequence, this must not hold a thread of the pool that the sequence needs.
func send(_ request: URLRequest) async -> Answer {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread {
            let session = URLSession(configuration: .ephemeral)
            let task = session.dataTask(with: request) { data, response, error in
                let status = (response as? HTTPURLResponse)?.statusCode
                continuation.resume(returning: Answer(status: status, body: data ?? Data(), error: error))
            }
            task.resume()
            session.finishTasksAndInvalidate()
        }
    }
}

/// A session that answers what URLSession asks while it uploads.
final class Delegate: NSObject, URLSessionDataDelegate, Sendable {
    private let answer: AsyncStream<Answer>
    private let continuation: AsyncStream<Answer>.Continuation
    private let makeStream: @Sendable () -> InputStream?
    private let followsRedirects: Bool
    private let heard = Flag()

    /// Whether any task has told this delegate of its end.
    var hasHeard: Bool { heard.isSet }

    init(followsRedirects: Bool = false, makeStream: @escaping @Sendable () -> InputStream? = { nil }) {
        (answer, continuation) = AsyncStream.makeStream()
        self.makeStream = makeStream
        self.followsRedirects = followsRedirects
    }

    /// Runs the one task that `begin` makes in a session with this delegate.
    func run(
        queue: OperationQueue? = nil,
        _ begin: @escaping @Sendable (URLSession) -> URLSessionTask
    ) async -> Answer? {
        Thread.detachNewThread {
            let session = URLSession(configuration: .ephemeral, delegate: self, delegateQueue: queue)
            begin(session).resume()
            session.finishTasksAndInvalidate()
        }
        var iterator = answer.makeAsyncIterator()
        return await iterator.next()
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(makeStream())
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(followsRedirects ? request : nil)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.useCredential, URLCredential(user: "user", password: "pass", persistence: .none))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        heard.set()
        let status = (task.response as? HTTPURLResponse)?.statusCode
        continuation.yield(Answer(status: status, body: Data(), error: error))
    }
}

/// What Tests/Interop/raw_server.py wrote down of one request.
struct Recording {
    struct Facts: Decodable {
        var complete: Bool
        var headBytes: Int
        var framing: String
        var size: Int64
    }

    let facts: Facts
    /// The request line and the header lines, as they came.
    let lines: [String]
    /// What followed them, chunk sizes and all.
    let body: Data

    /// Waits for the recording of the request with this number, from 1.
    init(_ number: Int = 1, in directory: URL) async throws {
        let base = directory.appendingPathComponent("request-\(number)")
        let facts = base.appendingPathExtension("json")
        try #require(await eventually { FileManager.default.fileExists(atPath: facts.path) })
        self.facts = try JSONDecoder().decode(Facts.self, from: Data(contentsOf: facts))
        let bytes = try Data(contentsOf: base.appendingPathExtension("bin"))
        lines = String(decoding: bytes.prefix(self.facts.headBytes), as: UTF8.self).split(separator: "\r\n").map(
            String.init
        )
        body = bytes.dropFirst(self.facts.headBytes)
    }

    /// The values of the header's fields of this name, in order.
    func values(of field: String) -> [String] {
        lines.dropFirst().compactMap { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == field.lowercased() else { return nil }
            return parts[1].trimmingCharacters(in: .whitespaces)
        }
    }
}
