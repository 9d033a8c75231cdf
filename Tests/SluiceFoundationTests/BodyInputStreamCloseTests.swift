import Foundation
import Sluice
import SluiceFoundation
import SluiceTestSupport
import Synchronization
import Testing

/// Closing: from any thread, at any time, and with nothing left open.
@Suite(.timeLimit(.minutes(5))) struct BodyInputStreamCloseTests {
    private let scratch: TemporaryDirectory

    init() throws {
        scratch = try TemporaryDirectory()
    }

    @Test("Closing before the end makes later reads fail, so that nobody takes it for the end")
    func closeEarly() throws {
        let stream = try fileBody().body.makeInputStream()
        stream.open()
        _ = read(stream, 1000)
        stream.close()
        stream.close()
        #expect(stream.streamStatus == .closed)
        #expect(stream.bodyError == nil, "closing early is no error by itself")
        #expect(stream.hasBytesAvailable)
        #expect(read(stream, 10).count == -1)
        #expect(stream.bodyError?.code == .cancelled)
        #expect(stream.streamStatus == .closed)
    }

    @Test("A progress handler may close the stream that it hears of")
    func closeFromHandler() throws {
        let body = try fileBody().body
        let reports = Reports()
        var stream: BodyInputStream?
        let handles = Streams()
        stream = body.makeInputStream { report in
            reports.append(report)
            handles.all.first?.close()
        }
        stream.map { handles.append($0.handle) }
        stream?.open()
        let (bytes, last) = try drain(#require(stream), bufferSize: 1000)
        #expect(bytes.count == 1000, "what was read by then is given")
        #expect(last == -1)
        #expect(stream?.bodyError?.code == .cancelled)
        #expect(reports.all.map(\.completedBytes) == [1000, 1000])
    }

    @Test("A handler that holds the stream's handle does not keep the body alive for ever", arguments: [true, false])
    func cycle(readsToEnd: Bool) throws {
        final class Canary: Sendable {}
        weak var weakCanary: Canary?
        do {
            let canary = Canary()
            weakCanary = canary
            let handles = Streams()
            let stream = try fileBody().body.makeInputStream { _ in
                withExtendedLifetime((handles, canary)) {}
            }
            handles.append(stream.handle)
            stream.open()
            _ = readsToEnd ? drain(stream).last : read(stream, 10).count
            #expect(weakCanary != nil)
        }
        #expect(weakCanary == nil)
    }

    @Test("A file is open only while it is read, and closed at the end, by an error, by close and by release")
    func descriptors() throws {
        let (body, file) = try fileBody()
        var stream: BodyInputStream? = body.makeInputStream()
        let isOpen = { descriptorsOpen(for: file.path) == 1 }
        stream?.open()
        #expect(!isOpen())
        stream.map { _ = read($0, 1000) }
        #expect(isOpen())
        stream.map { _ = drain($0) }
        #expect(!isOpen(), "closed at the end")

        stream = body.makeInputStream()
        stream?.open()
        stream.map { _ = read($0, 1000) }
        #expect(isOpen())
        stream?.close()
        #expect(!isOpen(), "closed by close()")

        stream = body.makeInputStream()
        stream?.open()
        stream.map { _ = read($0, 1000) }
        #expect(isOpen())
        let handle = stream?.handle
        stream = nil
        #expect(!isOpen(), "closed by release, although its handle lives on")
        #expect(handle?.error == nil)
        #expect((handle?.position ?? 0) > 0)

        stream = body.makeInputStream()
        stream?.open()
        stream.map { _ = read($0, 1000) }
        #expect(isOpen())
        try cut(file, to: 0)
        stream.map { _ = drain($0) }
        #expect(stream?.streamStatus == .error)
        #expect(!isOpen(), "closed by an error")
    }

    @Test("Closing ends a read that waits for a pipe, and does not wait for it")
    func closeWhilePipeWaits() async throws {
        let pipe = Pipe()
        try await closeWhileWaiting(try FileSource(fileHandle: pipe.fileHandleForReading))
        withExtendedLifetime(pipe) {}
    }

    @Test("Closing ends a read that waits for an async sequence")
    func closeWhileSequenceWaits() async throws {
        let (sequence, continuation) = AsyncStream.makeStream(of: Data.self)
        try await closeWhileWaiting(AsyncSource(sequence))
        continuation.finish()
    }

    @Test("Closing does not wait for a source that blocks in its own code, whose read then fails")
    func closeWhileGeneratorBlocks() async throws {
        let gate = DispatchSemaphore(value: 0)
        var form = MultipartForm()
        let source = GeneratorSource.restartable {
            { buffer in
                gate.wait()
                buffer.append(0x78)
            }
        }
        try form.append(.file("slow", source, filename: "x"))
        let body = try form.body()
        let box = Reading(body)
        async let last = onThread { box.read() }
        #expect(await eventually { box.isWaiting })
        box.handle?.close()
        #expect(!box.isOver, "close() came back first")
        gate.signal()
        #expect(await last == -1)
        #expect(box.handle?.error?.code == .cancelled)
    }

    @Test("While a read waits the status is reading, and a second reader is turned away")
    func secondReader() async throws {
        let pipe = Pipe()
        var form = MultipartForm()
        try form.append(.file("pipe", try FileSource(fileHandle: pipe.fileHandleForReading), filename: "x"))
        let box = Reading(try form.body())
        async let last = onThread { box.read() }
        #expect(await eventually { box.status == .reading })
        #expect(box.readOnce() == -1)
        #expect(box.handle?.error == nil)
        try pipe.fileHandleForWriting.write(contentsOf: Data("abc".utf8))
        try pipe.fileHandleForWriting.close()
        #expect(await last == 0)
        #expect(box.handle?.error == nil)
    }

    /// Reads until the source is waited for, closes, and expects the read to be over.
    private func closeWhileWaiting(_ source: FileSource) async throws {
        try await closeWhileWaiting(.file("waits", source, filename: "x"))
    }

    private func closeWhileWaiting(_ source: AsyncSource) async throws {
        try await closeWhileWaiting(.file("waits", source, filename: "x"))
    }

    private func closeWhileWaiting(_ part: Part) async throws {
        var form = MultipartForm()
        try form.append(part)
        let box = Reading(try form.body())
        async let last = onThread { box.read() }
        #expect(await eventually { box.status == .reading && box.isWaiting })
        try await Task.sleep(for: .milliseconds(50))
        box.handle?.close()
        #expect(await last == -1)
        #expect(box.handle?.error?.code == .cancelled)
        #expect(box.status == .closed)
    }

    private func fileBody() throws -> (body: MultipartBody, file: URL) {
        let file = try scratch.fileURL("file.bin", pattern(100_000))
        var form = MultipartForm()
        try form.addFile(name: "file", url: file)
        return (try form.body(), file)
    }
}

/// A stream that one thread reads to its end while another looks at it.
// @unchecked Sendable: a stream's status and reads may be asked for by any thread, which is what is tested here.
private final class Reading: @unchecked Sendable {
    private let stream: BodyInputStream
    private let headIsRead = Atomic(false)
    private let hasEnded = Atomic(false)
    let handle: BodyInputStream.Handle?

    init(_ body: MultipartBody) {
        stream = body.makeInputStream()
        handle = stream.handle
        stream.open()
    }

    /// Reads to the end.
    ///
    /// - Returns: What the last read gave.
    func read() -> Int {
        defer { hasEnded.store(true, ordering: .relaxed) }
        while true {
            let count = readOnce()
            // Rendered bytes do not wait for the content behind them.
            headIsRead.store(true, ordering: .relaxed)
            if count <= 0 { return count }
        }
    }

    func readOnce() -> Int { SluiceFoundationTests.read(stream, 4096).count }

    /// Whether the part's head was read and its content is waited for.
    var isWaiting: Bool { headIsRead.load(ordering: .relaxed) && status == .reading }
    var isOver: Bool { hasEnded.load(ordering: .relaxed) }
    var status: Stream.Status { stream.streamStatus }
}
