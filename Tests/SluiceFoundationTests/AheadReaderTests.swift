import Foundation
import Sluice
import SluiceTestSupport
import Testing

@testable import SluiceFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(5))) struct AheadReaderTests {
    private struct Broken: Error {}

    @Test(
        "Nobody waits any more for a body that has ended, failed or been given up",
        arguments: ["end", "fail", "cancel"]
    )
    func waiting(ending: String) async throws {
        let (sequence, continuation) = AsyncThrowingStream.makeStream(of: Data.self)
        var form = MultipartForm()
        try form.append(.file("live", AsyncSource(sequence), filename: "x"))
        let body = try form.body()
        // So little that the end has to be waited for, too.
        let reader = try AheadReader(body, capacity: 1)
        reader.start()
        async let taken = onThread { Self.takeAll(reader) }
        #expect(await eventually { reader.waitedFor != nil })
        switch ending {
        case "end": continuation.finish()
        case "fail": continuation.finish(throwing: Broken())
        default: reader.cancel()
        }
        let (count, error) = await taken
        #expect(reader.waitedFor == nil)
        #expect(error?.code == ["fail": .sourceFailed, "cancel": .cancelled][ending])
        #expect(count > 0)
        reader.cancel()
        continuation.finish()
    }

    @Test(
        "How much was taken of a part is known at each place, however much was read ahead",
        arguments: [1, 7, 1000],
        [true, false]
    )
    func marks(capacity: Int, isLengthKnown: Bool) async throws {
        let content = pattern(50)
        let body = try OnePart.body(ScriptedSource(content, knownLength: isLengthKnown ? 50 : nil, mayBlock: false))
        let reader = try AheadReader(body, capacity: capacity)
        reader.start()
        let marks = try await onThread {
            var marks: [BodyReader.Mark] = []
            var bytes = [UInt8](repeating: 0, count: 3)
            while unsafe try bytes.withUnsafeMutableBytes({ unsafe try reader.read(into: $0) }) > 0 {
                marks.append(reader.mark)
            }
            return marks
        }
        #expect(marks.last?.position == Int64(OnePart.framed(content).count))
        for mark in marks {
            #expect(mark.part == 0)
            #expect(mark.offsetInPart == min(max(mark.position - Int64(OnePart.head.count), 0), 50))
        }
    }

    /// Reads until there is nothing more to read.
    private static func takeAll(_ reader: AheadReader) -> (count: Int, error: MultipartError?) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 100, alignment: 1)
        defer { unsafe buffer.deallocate() }
        var total = 0
        do {
            while case let count = unsafe try reader.read(into: buffer), count > 0 { total += count }
            return (total, nil)
        } catch {
            return (total, error)
        }
    }

    #if os(Linux)
    @Test("Cancelling in the moment in which an upload begins leaves no thread behind")
    func cancelAtTheBeginning() async throws {
        let scratch = try TemporaryDirectory()
        let server = try await SessionServer(in: scratch)
        await #expect(processExitsWith: .success) { [url = server.process.url("/ok") as String] in
            let request = URLRequest(url: try #require(URL(string: url)))
            for round in 0..<1000 {
                let (body, continuation) = try MultipartBody.live()
                continuation.yield(Data(count: 100_000))
                var options = SessionOptions()
                options.readAhead = 1000
                let transfer = SessionTransfer(
                    request,
                    in: URLSession(configuration: .ephemeral),
                    upload: UploadSource(body, readAhead: 1000, meter: nil),
                    options: options
                ) { _ in .nothing }
                let (isReady, isRunning) = (Flag(), Flag())
                async let cancelled: Void = onThread {
                    isReady.set()
                    while !isRunning.isSet {}
                    // Reading ahead begins within the first tenth of a millisecond.
                    let moment = ContinuousClock.now + .nanoseconds(round % 500 * 250)
                    while ContinuousClock.now < moment {}
                    transfer.cancel()
                }
                while !isReady.isSet { await Task.yield() }
                isRunning.set()
                let result = await transfer.run()
                await cancelled
                #expect(throws: SessionError.self) { try result.get() }
                // The sequence goes on: only cancelling ends what reads it.
                withExtendedLifetime(continuation) {}
            }
            #expect(
                await ProcessState.settles(within: 30) { !ProcessState.threadNames().contains("sluice-ahead") },
                "\(ProcessState.threadNames())"
            )
        }
    }
    #endif
}
