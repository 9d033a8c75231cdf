import Sluice
import SluiceTestSupport
import Testing

/// Sources of one's own, with every trait that the protocol lets them have.
@Suite struct ByteSourceTests {
    private let content = Array("0123456789".utf8)

    private func body(_ sources: any ByteSource...) throws -> MultipartBody {
        var form = MultipartForm(subtype: .mixed, boundary: try Boundary("b"))
        for source in sources { try form.append(part(source)) }
        return try form.body()
    }

    private func part(_ source: some ByteSource) -> Part { Part(disposition: nil, mediaType: nil, source: source) }

    private func expected(_ contents: [UInt8]...) -> [UInt8] {
        ReferenceEncoder.encode(boundary: "b", contents.map { ReferencePart(headers: [], content: .bytes($0)) })
    }

    /// Every combination of what a source may say of itself.
    static let traits: [(knownLength: Bool, replay: Replay, mayBlock: Bool, step: Int)] =
        [true, false].flatMap { known in
            [Replay.once, .restartable, .seekable].flatMap { replay in
                [true, false].flatMap { blocks in [1, 4, 100].map { (known, replay, blocks, $0) } }
            }
        }

    @Test(arguments: traits)
    func `Two sources in a row give their bytes to any buffer from any offset`(
        knownLength: Bool,
        replay: Replay,
        mayBlock: Bool,
        step: Int
    ) throws {
        let source = ScriptedSource(
            content,
            knownLength: knownLength ? 10 : nil,
            replay: replay,
            mayBlock: mayBlock,
            step: step
        )
        let body = try body(source, source)
        let whole = expected(content, content)
        #expect(body.contentLength == (knownLength ? Int64(whole.count) : nil))
        #expect(body.replay == replay && body.mayBlock == mayBlock)
        for offset in 0...whole.count {
            for bufferSize in [1, 2, 3, 1000] {
                let bytes = try body.bytes(from: Int64(offset), bufferSize: bufferSize)
                #expect(bytes == Array(whole[offset...]), "from \(offset) by \(bufferSize)")
            }
        }
    }

    @Test(arguments: [Replay.once, .restartable, .seekable], [true, false])
    func `An offset past the end of a body of unknown length is an error`(replay: Replay, mayBlock: Bool) throws {
        let body = try body(ScriptedSource(content, replay: replay, mayBlock: mayBlock))
        let end = Int64(expected(content).count)
        #expect(try body.bytes(from: end).isEmpty)
        for offset in [end + 1, end + 100_000, Int64.max] {
            #expect(throwing(.invalidRange) { try body.bytes(from: offset) }, "\(offset)")
        }
    }

    @Test(arguments: [Replay.once, .restartable, .seekable], [true, false])
    func `An offset outside a body of known length is refused at once`(replay: Replay, mayBlock: Bool) throws {
        let body = try body(ScriptedSource(content, knownLength: 10, replay: replay, mayBlock: mayBlock))
        let end = Int64(expected(content).count)
        #expect(try body.bytes(from: end).isEmpty)
        for offset in [-1, end + 1, Int64.max, Int64.min] {
            #expect(throwing(.invalidRange) { try body.makeReader(startingAt: offset) }, "\(offset)")
        }
    }

    @Test(arguments: [true, false], [Replay.restartable, .seekable])
    func `A source that ends early is an error from every offset before its end`(mayBlock: Bool, replay: Replay) throws
    {
        let source = ScriptedSource(content, knownLength: 12, replay: replay, mayBlock: mayBlock, step: 5)
        let body = try body(ScriptedSource([1], knownLength: 1), source)
        let range = try #require(body.contentRanges[1])
        for offset in 0..<range.upperBound {
            let error = try #require(failure(of: { try body.bytes(from: offset) }))
            #expect(error.code == .lengthMismatch && error.part?.index == 1, "from \(offset)")
        }
        // What lies behind it can be read, because a seek does not touch it.
        #expect(try body.bytes(from: range.upperBound) == Array("\r\n--b--\r\n".utf8))
    }

    @Test(arguments: [0, 1, 9])
    func `An error of the source comes after the bytes before it, names the part, and stays`(failsAfter: Int) throws {
        let body = try body(ScriptedSource(content, knownLength: 10, step: 4, failsAfter: failsAfter))
        let reader = try body.makeReader()
        let start = Int(try #require(body.contentRanges[0]).lowerBound)
        var bytes: [UInt8] = []
        var error: MultipartError?
        while error == nil {
            var byte: UInt8 = 0
            error = failure(of: { unsafe try withUnsafeMutableBytes(of: &byte) { unsafe try reader.read(into: $0) } })
            if error == nil { bytes.append(byte) }
        }
        #expect(bytes == Array(expected(content)[..<(start + failsAfter)]))
        #expect(error?.code == .readFailed && error?.errno == 5 && error?.part?.index == 0)
        #expect(failure(of: { try reader.rest(bufferSize: 10) })?.reason == error?.reason)
    }

    @Test func `Lengths that together are more than 64 bits hold are refused, not a trap`() throws {
        let huge = ScriptedSource([], knownLength: .max)
        let error = try #require(throws: MultipartError.self) { try body(huge, huge) }
        #expect(error.code == .lengthMismatch)
        // One alone does not fit either, because of the delimiters.
        #expect(throwing(.lengthMismatch) { try body(huge) })
        let large = ScriptedSource([], knownLength: .max - 1000)
        #expect(try body(large).contentLength == .max - 1000 + Int64(expected([]).count))
    }

    @Test func `A body can be read by offset next to the largest one there is`() throws {
        let source = GeneratorSource.restartable(knownLength: .max - 1000) { { _ in } }
        let body = try body(source)
        let end = try #require(body.contentLength)
        #expect(try body.bytes(from: end - 9) == Array("\r\n--b--\r\n".utf8))
        #expect(try body.slice(end - 3..<end).bytes() == Array("-\r\n".utf8))
    }

    @Test func `A body is what its weakest source is`() throws {
        let sources: [Replay: ScriptedSource] = [
            .once: ScriptedSource(content, replay: .once), .restartable: ScriptedSource(content, replay: .restartable),
            .seekable: ScriptedSource(content, replay: .seekable),
        ]
        for (first, source) in sources {
            for (second, other) in sources { #expect(try body(source, other).replay == min(first, second)) }
        }
        #expect(try body().replay == .seekable)
        #expect(try !body().mayBlock)
    }
}
