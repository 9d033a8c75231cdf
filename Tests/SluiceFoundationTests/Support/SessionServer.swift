import Foundation
import Sluice
import SluiceFoundation
import SluiceTestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A server of Tests/Interop/session_server.py, which answers as the path says, and what it recorded.
struct SessionServer {
    let process: ServerProcess
    private let records: URL

    init(in scratch: TemporaryDirectory) async throws {
        let records = scratch.url.appendingPathComponent("records-\(UUID().uuidString)")
        self.records = records
        process = try await ServerProcess.started("session_server.py", "--record", records.path)
    }

    /// A request for a path of the server.
    func request(_ path: String, method: String = "GET", host: String = "127.0.0.1") throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: process.url(path, host: host))))
        request.httpMethod = method
        return request
    }

    /// What the server received with the request of this number, from 1.
    func recording(_ number: Int = 1) async throws -> Recording {
        try await Recording(number, in: records)
    }

    /// How many requests the server has received.
    var requestCount: Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: records.path)) ?? []
        return names.count { $0.hasSuffix(".bin") }
    }
}

extension MultipartBody {
    /// A body of one file part of this many bytes, and its bytes.
    static func sample(_ count: Int, in scratch: TemporaryDirectory) throws -> (body: MultipartBody, bytes: Data) {
        var form = MultipartForm()
        try form.addField(name: "title", value: "Holiday")
        let bytes = TemporaryDirectory.noise(count)
        try form.addFile(name: "film", url: try scratch.fileURL("film-\(UUID().uuidString)", bytes))
        let body = try form.body()
        return (body, try body.data(upTo: .max))
    }

    /// The whole body, read where it may wait for an async sequence.
    func whole() async throws -> Data {
        try await onThread { Result { try data(upTo: .max) } }.get()
    }

    /// A body of one file part whose bytes come as they are given, and so once.
    static func live() throws -> (body: MultipartBody, bytes: AsyncStream<Data>.Continuation) {
        var form = MultipartForm()
        let (sequence, continuation) = AsyncStream.makeStream(of: Data.self)
        try form.append(.file("live", AsyncSource(sequence), filename: "x"))
        return (try form.body(), continuation)
    }

    /// A body whose one part can be read once.
    static func onceOnly(_ text: String) throws -> MultipartBody {
        let (body, bytes) = try live()
        bytes.yield(Data(text.utf8))
        bytes.finish()
        return body
    }
}

/// Checks that the server received the whole body, by the digest that it answers with.
func expectWhole(_ body: MultipartBody, _ response: SessionResponse, in scratch: TemporaryDirectory) async throws {
    struct Account: Decodable {
        var size: Int64
        var sha256: String
    }
    let account = try JSONDecoder().decode(Account.self, from: response.body)
    let whole = try await body.whole()
    let file = try scratch.fileURL("whole-\(UUID().uuidString)", Array(whole))
    #expect(account.size == Int64(whole.count))
    #expect(try account.sha256 == ChildProcess.sha256(ofFile: file.path))
}

/// The error of a call that is to fail.
func failure<Value>(of call: () async throws(SessionError) -> Value) async -> SessionError? {
    do {
        _ = try await call()
        return nil
    } catch {
        return error
    }
}

/// Everything that a download says, and what it throws.
func events(
    of stream: AsyncThrowingStream<SessionDownloadEvent, any Error>
) async -> (progress: [TransferProgress], completed: URL?, failed: SessionError?, thrown: SessionError?) {
    var progress: [TransferProgress] = []
    var (completed, failed): (URL?, SessionError?)
    do {
        for try await event in stream {
            switch event {
            case .progress(let report): progress.append(report)
            case .completed(let url): completed = url
            case .failed(let error): failed = error
            }
        }
        return (progress, completed, failed, nil)
    } catch {
        return (progress, completed, failed, error as? SessionError)
    }
}
