import Sluice
import SluiceTestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct BodySliceTests {
    @Test func `Every slice is its bytes, read by a reader`() async throws {
        let sample = try SampleForm(isLengthKnown: true)
        let body = try sample.form.body()
        let expected = sample.expected
        let wrong = try await onThread {
            var wrong: [Range<Int>] = []
            for lower in 0...expected.count {
                for upper in lower...expected.count {
                    let slice = try body.slice(Int64(lower)..<Int64(upper))
                    let size = 1 + (lower &* 31 &+ upper) % 40
                    if try slice.contentLength != Int64(upper - lower)
                        || slice.bytes(bufferSize: size) != Array(expected[lower..<upper])
                    {
                        wrong.append(lower..<upper)
                    }
                }
            }
            return wrong
        }
        #expect(wrong == [])
    }

    @Test func `Every slice is its bytes, awaited as chunks`() async throws {
        let sample = try SampleForm(isLengthKnown: true)
        let body = try sample.form.body()
        let expected = sample.expected
        var wrong: [Range<Int>] = []
        for lower in 0...expected.count {
            // All ends would be thousands of threads; these meet every segment's edges in the course of all starts.
            for upper in Set([lower, min(lower + 1 + lower % 50, expected.count), expected.count]) {
                let chunks = try await body.slice(Int64(lower)..<Int64(upper)).chunks(ofSize: 1 + lower % 13).all()
                if chunks.flatMap(\.self) != Array(expected[lower..<upper]) { wrong.append(lower..<upper) }
            }
        }
        #expect(wrong == [])
    }

    @Test func `Every slice is its bytes, written to a file`() async throws {
        let sample = try SampleForm(isLengthKnown: true)
        let body = try sample.form.body()
        let expected = sample.expected
        let directory = try TemporaryDirectory()
        let wrong = try await onThread {
            let path = try directory.file("target", [])
            var wrong: [Range<Int>] = []
            for lower in 0...expected.count {
                for upper in stride(from: lower + lower % 5, through: expected.count, by: 29) {
                    try Files.cut(path, to: 0)
                    let target = try Files.descriptor(of: path, 1)
                    defer { Files.close(target) }
                    let report = try body.slice(Int64(lower)..<Int64(upper)).write(to: target)
                    let bytes = try TemporaryDirectory.contents(ofFile: path)
                    if bytes != Array(expected[lower..<upper]) || report.bytes != Int64(upper - lower) {
                        wrong.append(lower..<upper)
                    }
                }
            }
            return wrong
        }
        #expect(wrong == [])
    }

    @Test(arguments: seeds(fixed: 20, fresh: 20))
    func `A slice of a slice counts from its own start, and readers within it do`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let sample = try SampleForm(isLengthKnown: true)
        var body = try sample.form.body()
        var expected = sample.expected
        for _ in 0..<4 {
            let lower = Int.random(in: 0...expected.count, using: &random)
            let upper = Int.random(in: lower...expected.count, using: &random)
            body = try body.slice(Int64(lower)..<Int64(upper))
            expected = Array(expected[lower..<upper])
            let offset = Int.random(in: 0...expected.count, using: &random)
            let slice = body
            let rest = try await onThread { try slice.bytes(from: Int64(offset), bufferSize: 5) }
            #expect(rest == Array(expected[offset...]), "seed \(seed)")
        }
    }

    @Test func `Adjacent slices are the whole, read at the same time`() async throws {
        let sample = try SampleForm(isLengthKnown: true)
        let body = try sample.form.body()
        let length = Int64(sample.expected.count)
        let pieces = try await withThrowingTaskGroup(of: (Int64, [UInt8]).self) { group in
            for start in stride(from: 0, to: length, by: 17) {
                let slice = try body.slice(start..<min(start + 17, length))
                group.addTask { (start, try await slice.chunks(ofSize: 5).all().flatMap(\.self)) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(pieces.sorted { $0.0 < $1.0 }.flatMap(\.1) == sample.expected)
    }

    @Test(arguments: [-1..<0, -5..<5, 0..<1000, 1000..<1000, Int64.min..<Int64.max] as [Range<Int64>])
    func `A range that does not lie within the body is refused`(range: Range<Int64>) throws {
        let body = try SampleForm(isLengthKnown: true).form.body()
        #expect(throwing(.invalidRange) { try body.slice(range) })
        let slice = try body.slice(10..<20)
        #expect(throwing(.invalidRange) { try slice.slice(0..<11) })
        #expect(throwing(.invalidRange) { try slice.makeReader(startingAt: 11) })
        #expect(throwing(.invalidRange) { try slice.makeReader(startingAt: -1) })
    }

    @Test func `A body of unknown length has no slices`() throws {
        let body = try SampleForm(isLengthKnown: false).form.body()
        #expect(throwing(.unknownLength) { try body.slice(0..<0) })
    }

    @Test func `A slice keeps the body's type, parts, ranges and replay`() throws {
        let body = try SampleForm(isLengthKnown: true).form.body()
        let slice = try body.slice(30..<40)
        #expect(slice.contentType == body.contentType && slice.parts == body.parts && slice.replay == body.replay)
        #expect(slice.contentRanges == body.contentRanges && slice.mayBlock == body.mayBlock)
    }
}
