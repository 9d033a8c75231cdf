import SluiceTestSupport
import Testing

@testable import Sluice

/// The same body by every way of cutting it must be the same bytes.
@Suite(.timeLimit(.minutes(10))) struct BodyReaderTests {
    static let bufferSizes = [1, 2, 3, 7, 64, 4096, 65_536]

    @Test(arguments: bufferSizes, [true, false])
    func `Every buffer size gives the same bytes, by spans and by raw memory`(
        size: Int,
        isLengthKnown: Bool
    ) async throws {
        let sample = try SampleForm(isLengthKnown: isLengthKnown)
        let body = try sample.form.body()
        #expect(body.contentLength == (isLengthKnown ? Int64(sample.expected.count) : nil))
        let (raw, spans) = try await onThread {
            (try body.bytes(bufferSize: size), try body.makeReader().restThroughSpans(bufferSize: size))
        }
        #expect(raw == sample.expected)
        #expect(spans == sample.expected)
    }

    @Test(arguments: seeds(fixed: 10, fresh: 10), [true, false])
    func `Buffers of changing sizes give the same bytes`(seed: UInt64, isLengthKnown: Bool) async throws {
        let sample = try SampleForm(isLengthKnown: isLengthKnown)
        let body = try sample.form.body()
        let bytes = try await onThread {
            var random = SeededGenerator(seed: seed)
            return try body.makeReader().rest(bufferSize: Int.random(in: 1...40, using: &random))
        }
        #expect(bytes == sample.expected, "seed \(seed)")
    }

    @Test(arguments: bufferSizes, [true, false])
    func `Every start gives the rest of the bytes, and counts from there`(size: Int, isLengthKnown: Bool) async throws {
        let sample = try SampleForm(isLengthKnown: isLengthKnown)
        let body = try sample.form.body()
        let expected = sample.expected
        let wrong = try await onThread {
            try (0...expected.count).filter { offset in
                let reader = try body.makeReader(startingAt: Int64(offset))
                let isPlaced = reader.position == Int64(offset)
                let bytes = try reader.rest(bufferSize: size)
                return !isPlaced || bytes != Array(expected[offset...]) || reader.position != Int64(expected.count)
            }
        }
        #expect(wrong == [])
    }

    @Test func `The position is the number of bytes read, whatever the buffers`() async throws {
        let sample = try SampleForm(isLengthKnown: false)
        let body = try sample.form.body()
        try await onThread {
            let reader = try body.makeReader(startingAt: 5)
            var position: Int64 = 5
            var buffer = [UInt8](repeating: 0, count: 11)
            while true {
                #expect(reader.position == position)
                let count = try unsafe buffer.withUnsafeMutableBytes { unsafe try reader.read(into: $0) }
                if count == 0 { break }
                position += Int64(count)
            }
        }
    }

    @Test func `A buffer without room reads nothing, and ends nothing`() async throws {
        let sample = try SampleForm(isLengthKnown: true)
        let body = try sample.form.body()
        let expected = sample.expected
        try await onThread {
            let reader = try body.makeReader()
            var bytes: [UInt8] = []
            var byte: UInt8 = 0
            for _ in expected {
                #expect(try unsafe reader.read(into: UnsafeMutableRawBufferPointer(start: nil, count: 0)) == 0)
                #expect(try unsafe withUnsafeMutableBytes(of: &byte) { unsafe try reader.read(into: $0) } == 1)
                bytes.append(byte)
            }
            #expect(bytes == expected)
        }
    }

    @Test func `A span keeps what it holds, and is filled behind that`() throws {
        let body = try OnePart.body(Part(disposition: nil, mediaType: nil, bytes: [65, 66]))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 100, alignment: 1)
        defer { unsafe buffer.deallocate() }
        var span = unsafe OutputRawSpan(buffer: buffer, initializedCount: 0)
        span.append(7 as UInt8)
        let count = try body.makeReader().read(into: &span)
        #expect(count == OnePart.framed([65, 66]).count)
        let total = unsafe span.finalize(for: buffer)
        #expect(unsafe Array(buffer[..<total]) == [7] + OnePart.framed([65, 66]))
    }

    @Test func `A reader at its end stays there`() throws {
        let reader = try OnePart.body(Part(disposition: nil, mediaType: nil, bytes: [65])).makeReader()
        #expect(try reader.rest(bufferSize: 5) == OnePart.framed([65]))
        for _ in 0..<3 { #expect(try reader.rest(bufferSize: 5).isEmpty) }
        #expect(reader.partIndex == nil)
    }

    @Test func `The part of the next byte is known, its head included`() throws {
        let inner = try MultipartForm(subtype: .mixed, boundary: Boundary("in")) {
            Part(disposition: nil, mediaType: nil, bytes: [4])
        }
        let body = try MultipartForm(subtype: .mixed, boundary: Boundary("b")) {
            Part(disposition: nil, mediaType: nil, bytes: [1, 2, 3])
            Part(disposition: nil, mediaType: nil, bytes: [])
            Part(disposition: nil, form: inner)
        }.body()
        let ranges = body.contentRanges.compactMap(\.self)
        let reader = try body.makeReader()
        var byte: UInt8 = 0
        for offset in 0..<(body.contentLength ?? 0) {
            let expected = ranges.firstIndex { offset < $0.upperBound }
            // Where an empty part's content would be, both that part and the next one are right.
            if offset != ranges[1].lowerBound { #expect(reader.partIndex == expected, "at \(offset)") }
            _ = try unsafe withUnsafeMutableBytes(of: &byte) { unsafe try reader.read(into: $0) }
        }
        #expect(body.parts.map(\.description) == ["#0", "#1", "#2 > #0"])
    }

    // MARK: Marks

    @Test(arguments: [1, 3, 7, 1000], [true, false])
    func `How much there was of the last part is known behind it, nested or not`(
        bufferSize: Int,
        isLengthKnown: Bool
    ) throws {
        let content = Array("generated".utf8)
        let source = ScriptedSource(content, knownLength: isLengthKnown ? 9 : nil, replay: .seekable, step: 4)
        let inner = try MultipartForm(subtype: .mixed, boundary: Boundary("in")) {
            Part(disposition: nil, mediaType: nil, source: source)
        }
        let body = try MultipartForm(subtype: .mixed, boundary: Boundary("b")) {
            Part(disposition: nil, mediaType: nil, bytes: [1, 2, 3])
            Part(disposition: nil, form: inner)
        }.body()
        let whole = try body.bytes(bufferSize: 1000)
        let start = try #require(whole.indices.first { whole[$0...].starts(with: content) })
        let reader = try body.makeReader()
        var bytes: [UInt8] = []
        while try reader.read(appendingTo: &bytes, upTo: bufferSize) > 0 {
            let mark = reader.mark
            #expect(mark.position == Int64(bytes.count))
            guard mark.part == 1 else { continue }
            #expect(mark.offsetInPart == Int64(min(max(bytes.count - start, 0), content.count)))
            #expect(mark.bytesBehindPart == Int64(max(bytes.count - start - content.count, 0)))
        }
        #expect(reader.mark.part == 1 && reader.mark.offsetInPart == 9)
        #expect(reader.mark.bytesBehindPart == Int64(whole.count - start - content.count))
    }

    @Test func `A slice's marks are about the part that its bytes lie in`() throws {
        let body = try OnePart.body(ScriptedSource([1, 2, 3], knownLength: 3))
        let end = Int64(OnePart.head.count) + 3
        let upToEnd = try body.slice(0..<end).makeReader()
        var bytes: [UInt8] = []
        while try upToEnd.read(appendingTo: &bytes, upTo: 4) > 0 {}
        #expect(upToEnd.mark.part == 0 && upToEnd.mark.offsetInPart == 3 && upToEnd.mark.bytesBehindPart == 0)
        // Within the close-delimiter, what comes before it was never seen.
        let tail = try body.slice(end + 1..<end + 5).makeReader()
        while try tail.read(appendingTo: &bytes, upTo: 4) > 0 {}
        #expect(tail.mark.part == nil)
    }
}
