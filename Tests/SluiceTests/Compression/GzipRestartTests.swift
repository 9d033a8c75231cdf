import SluiceTestSupport
import Synchronization
import Testing

@testable import Sluice

/// Readers that start within a compressed part.
@Suite(.timeLimit(.minutes(5))) struct GzipRestartTests {
    private static let content = GzipSamples.text(900_000) + GzipSamples.random(400_000) + GzipSamples.text(700_000)

    /// A source that counts what is read of it.
    private struct Counting: ByteSource {
        let source: ScriptedSource
        let count = Count()

        final class Count: Sendable {
            let bytes = Atomic<Int64>(0)
        }

        var knownLength: Int64? { source.knownLength }
        var replay: Replay { source.replay }

        func open(at offset: Int64) throws(MultipartError) -> any ByteCursor {
            Cursor(cursor: try source.open(at: offset), count: count)
        }

        final class Cursor: ByteCursor {
            let cursor: any ByteCursor
            let count: Count

            init(cursor: any ByteCursor, count: Count) {
                self.cursor = cursor
                self.count = count
            }

            func read(into buffer: inout OutputRawSpan) throws(MultipartError) {
                let before = buffer.byteCount
                try cursor.read(into: &buffer)
                count.bytes.add(Int64(buffer.byteCount - before), ordering: .relaxed)
            }
        }
    }

    private func body(_ source: some ByteSource, workers: Int, _ length: Gzip.Length = .unknown) throws -> MultipartBody
    {
        var part = Part(disposition: nil, mediaType: nil, source: source)
            .gzip(workers: .init(workers), length: length)
        part.mediaType = nil
        return try OnePart.body(part)
    }

    @Test(arguments: [Replay.restartable, .seekable], [1, 3])
    func `From any offset come the bytes that a whole reading has there`(replay: Replay, workers: Int) throws {
        for length in [nil, Int64(Self.content.count)] {
            for strategy in [Gzip.Length.unknown, .measured] {
                let source = ScriptedSource(Self.content, knownLength: length, replay: replay)
                let body = try body(source, workers: workers, strategy)
                #expect(body.replay == .restartable)
                var generator = SeededGenerator(seed: 7)
                var whole = try body.bytes(from: 0)
                for turn in 0..<8 {
                    if turn == 4 { whole = try body.bytes() }
                    let offset = Int.random(in: 0...whole.count, using: &generator)
                    #expect(
                        difference(try body.bytes(from: Int64(offset)), Array(whole.dropFirst(offset))) == nil,
                        "from \(offset) of \(whole.count)"
                    )
                }
            }
        }
    }

    @Test(arguments: [1, 3])
    func `What an earlier reader passed is not compressed again`(workers: Int) throws {
        let source = Counting(source: ScriptedSource(Self.content, replay: .seekable))
        let body = try body(source, workers: workers)
        let whole = try body.bytes()
        let readOnce = source.count.bytes.exchange(0, ordering: .relaxed)
        #expect(readOnce == Int64(Self.content.count))
        let offset = whole.count - 1000
        #expect(difference(try body.bytes(from: Int64(offset)), Array(whole.suffix(1000))) == nil)
        #expect(source.count.bytes.exchange(0, ordering: .relaxed) <= 3 * Int64(GzipSamples.blockSize))
    }

    @Test func `A reading that broke off can be gone on with`() throws {
        let source = Counting(source: ScriptedSource(Self.content, replay: .seekable))
        let body = try body(source, workers: 1)
        let whole = GzipSamples.member(of: Self.content)
        let reader = try body.makeReader()
        var start: [UInt8] = []
        while start.count < 500_000 { _ = try reader.read(appendingTo: &start, upTo: 10_000) }
        source.count.bytes.store(0, ordering: .relaxed)
        #expect(difference(start + (try body.bytes(from: Int64(start.count))), OnePart.framed(whole)) == nil)
        #expect(source.count.bytes.load(ordering: .relaxed) < Int64(Self.content.count) * 3 / 4)
    }

    @Test func `An offset behind the end of a body of unknown length is an error`() throws {
        let body = try body(ScriptedSource(Self.content), workers: 1)
        let count = Int64(try body.bytes().count)
        #expect(try body.bytes(from: count).isEmpty)
        #expect(throwing(.invalidRange) { try body.bytes(from: count + 1) })
    }

    @Test func `The places that are remembered are bounded, and spread over all of it`() {
        let points = RestartPoints()
        for index in 1...100_000 {
            points.add(RestartPoint(offset: Int64(index * 10), sourceOffset: Int64(index * 100), checksum: 1))
        }
        var distances: [Int64] = []
        var last = points.last(before: .max)
        while last.offset > 0 {
            let previous = points.last(before: last.offset - 1)
            distances.append(last.sourceOffset - previous.sourceOffset)
            last = previous
        }
        #expect(distances.count <= 1024 && distances.count > 300)
        #expect(distances.allSatisfy { $0 <= 10_000_000 / 256 })
    }

    @Test func `A source that is skipped into gives what comes there`() throws {
        let source = try GzipSource(ScriptedSource(Self.content), workers: 1)
        let whole = GzipSamples.member(of: Self.content)
        for offset in [0, 1, 9, 10, 11, 200_000, whole.count - 1] {
            let cursor = try source.open(at: Int64(offset))
            let bytes = try cursor.bytes(upTo: 999)
            #expect(difference(bytes, Array(whole.dropFirst(offset).prefix(999))) == nil)
        }
    }
}
