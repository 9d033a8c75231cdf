import Sluice
import SluiceTestSupport
import Testing

/// Parts over an async sequence of chunks.
@Suite(.timeLimit(.minutes(5))) struct MultipartReaderTests {
    static let limits = ParserLimits(fileBytes: 1 << 30, totalBytes: 2 << 30)
    static let type = "multipart/form-data; boundary=b"

    static func field(_ name: String, _ content: String) -> String {
        "--b\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(content)\r\n"
    }

    static func reader(
        _ text: String,
        by sizes: [Int] = [1000],
        then end: Upstream.End = .finish,
        _ upstream: Upstream = Upstream()
    ) throws -> MultipartReader<Upstream.Chunks> {
        try MultipartReader(
            upstream.chunks(chunked(Array(text.utf8), sizes), then: end),
            contentType: type,
            limits: limits
        )
    }

    @Test(arguments: [1, 7, 1000])
    func `Parts come with their contents, and what is not read is passed over`(size: Int) async throws {
        var seen: [String] = []
        for try await part in try Self.reader(MultipartParserTests.form, by: [size]) {
            if part.headers.isFile { continue }
            seen.append("\(part.headers.name ?? "-")=\(try await part.text(upTo: 100))")
        }
        #expect(seen == ["title=Holiday", "empty="])
    }

    @Test func `Contents are slices of the chunks, whatever chunks are`() async throws {
        let text = Self.field("a", "12345\r\n--67") + Self.field("c", "89") + "--b--\r\n"
        var kinds: [[String]] = []
        func contents<Upstream: AsyncSequence>(_ upstream: Upstream) async throws
        where
            Upstream.Element: RandomAccessCollection & RangeReplaceableCollection,
            Upstream.Element.Element == UInt8,
            Upstream.Element.SubSequence: RandomAccessCollection & RangeReplaceableCollection & Sendable
        {
            var seen: [String] = []
            for try await part in try MultipartReader(upstream, contentType: Self.type, limits: Self.limits) {
                var content: [UInt8] = []
                for try await slice in part.body {
                    #expect(!slice.isEmpty)
                    content += Array(slice)
                }
                seen.append(String(decoding: content, as: UTF8.self))
            }
            kinds.append(seen)
        }
        let chunks = chunked(Array(text.utf8), [5])
        try await contents(stream(of: chunks))
        // A slice that does not begin at 0.
        try await contents(stream(of: chunks.map { ([1, 2, 3] + $0)[3...] }))
        try await contents(stream(of: chunks.map { ContiguousArray($0) }))
        // In no memory that can be lent.
        try await contents(stream(of: chunks.map { Scattered($0) }))
        #expect(kinds == Array(repeating: ["12345\r\n--67", "89"], count: 4))
    }

    @Test func `The upstream is asked only when what it gave is used up, and not behind the end`() async throws {
        let upstream = Upstream()
        let text = Self.field("a", "1") + Self.field("c", "2") + "--b--\r\n"
        let reader = try MultipartReader(
            upstream.chunks([Array(text.utf8), Array("epilogue".utf8)], then: .wait),
            contentType: Self.type,
            limits: Self.limits
        )
        var iterator = reader.makeAsyncIterator()
        #expect(upstream.asked == 0)
        for name in ["a", "c"] {
            let part = try #require(try await iterator.next(isolation: nil))
            #expect(part.headers.name == name && upstream.asked == 1)
            #expect(try await part.collect(upTo: 1).count == 1)
            #expect(upstream.asked == 1)
        }
        #expect(try await iterator.next(isolation: nil)?.headers.name == nil)
        #expect(upstream.asked == 1 && upstream.released == 1)
        #expect(try await iterator.next(isolation: nil)?.headers.name == nil)
    }

    @Test func `A body that ends right behind its close delimiter is complete`() async throws {
        let upstream = Upstream()
        var count = 0
        for try await part in try Self.reader(Self.field("a", "1") + "--b--", by: [3], upstream) {
            count += try await part.collect(upTo: 1).count
        }
        #expect(count == 1 && upstream.released == 1)
    }

    // MARK: Errors

    @Test(arguments: 0..<60)
    func `A body that is cut off is an error, whatever is read of it`(count: Int) async throws {
        let text = Self.field("a", "12345")
        let cut = String(decoding: text.utf8.prefix(count), as: UTF8.self)
        for reads in [true, false] {
            let upstream = Upstream()
            let error = await failure {
                for try await part in try Self.reader(cut, by: [7], upstream) where reads {
                    _ = try await part.collect(upTo: 100)
                }
            }
            #expect(error?.code == .unexpectedEnd && error?.byteOffset == Int64(min(count, text.utf8.count)))
            #expect(upstream.released == 1)
        }
    }

    @Test func `An error is final`() async throws {
        var iterator = try Self.reader("--bX", then: .wait).makeAsyncIterator()
        for _ in 0..<3 {
            let error = await failure { try await iterator.next(isolation: nil)?.headers }
            #expect(error?.code == .invalidDelimiter && error?.byteOffset == 3)
        }
    }

    @Test func `What the upstream throws is the error's cause, and names the part`() async throws {
        struct Broken: Error {}
        let upstream = Upstream()
        let error = await failure {
            for try await part in try Self.reader(Self.field("a", "1"), then: .fail(Broken()), upstream) {
                _ = try await part.collect(upTo: 100)
            }
        }
        #expect(error?.code == .sourceFailed && error?.underlyingError is Broken && error?.part?.name == "a")
        #expect(upstream.released == 1)
    }

    @Test func `A caller that gives up within a part lets go of the upstream`() async throws {
        struct Enough: Error {}
        let upstream = Upstream()
        let text = Self.field("a", String(repeating: "1", count: 100))
        func readSome() async throws {
            for try await part in try Self.reader(text, by: [20], then: .wait, upstream) {
                for try await _ in part.body { throw Enough() }
            }
        }
        await #expect(throws: Enough.self) { try await readSome() }
        #expect(upstream.released == 1 && upstream.asked < 5)
    }

    @Test func `Empty chunks are passed over, but not without end`() async throws {
        let text = Self.field("a", "1") + "--b--\r\n"
        let chunks = Array(text.utf8).flatMap { [[], [$0], []] }
        let reader = try MultipartReader(Upstream().chunks(chunks), contentType: Self.type, limits: Self.limits)
        var contents: [String] = []
        for try await part in reader { contents.append(try await part.text(upTo: 1)) }
        #expect(contents == ["1"])

        let endless = try MultipartReader(EmptyChunks(), contentType: Self.type, limits: Self.limits)
        let error = await failure { for try await _ in endless {} }
        #expect(error?.code == .sourceFailed)
    }

    @Test func `A cancelled task's reading ends, wherever it waits`() async throws {
        for text in ["", "--b\r\n", Self.field("a", "1").replacing("\r\n--b", with: "")] {
            let upstream = Upstream()
            let task = Task {
                for try await part in try Self.reader(text, then: .wait, upstream) {
                    _ = try await part.collect(upTo: 9)
                }
            }
            #expect(await eventually { upstream.asked > (text.isEmpty ? 0 : 1) })
            task.cancel()
            let error = await failure { try await task.value }
            #expect(error?.code == .cancelled)
            #expect(upstream.released == 1)
        }
    }

    @Test func `A stream that ends because the task was cancelled has not ended`() async throws {
        let (chunks, continuation) = AsyncStream<[UInt8]>.makeStream()
        continuation.yield(Array((Self.field("a", "1") + "--b--").utf8))
        let task = Task {
            for try await _ in try MultipartReader(chunks, contentType: Self.type, limits: Self.limits) {}
        }
        task.cancel()
        #expect(await failure { try await task.value }?.code == .cancelled)
    }

    @Test func `Without a Content-Type, or with another one, there is no reader`() throws {
        #expect(throwing(.notMultipart) { try MultipartReader(EmptyChunks(), contentType: nil, limits: Self.limits) })
        #expect(throwing(.notMultipart) { try MultipartReader(EmptyChunks(), contentType: "a/b", limits: Self.limits) })
        #expect(
            throwing(.invalidBoundary) {
                try MultipartReader(EmptyChunks(), contentType: "multipart/mixed", limits: Self.limits)
            }
        )
    }

    // MARK: Whole contents

    @Test func `A limit holds before a chunk is kept, and names the part`() async throws {
        let text = Self.field("a", "12345") + "--b--\r\n"
        for limit in 0...6 {
            for try await part in try Self.reader(text, by: [2]) {
                let error = await failure { try await part.collect(upTo: limit) }
                #expect(error?.code == (limit < 5 ? .limitExceeded : nil))
                if limit < 5 { #expect(error?.part?.name == "a" && error?.suggestedStatus == 413) }
            }
        }
    }

    @Test func `Text is UTF-8 or an error`() async throws {
        let bytes =
            Array("--b\r\nContent-Disposition: form-data; name=a\r\n\r\n".utf8) + [0xC3, 0x28] + Array("\r\n--b--".utf8)
        let reader = try MultipartReader(Upstream().chunks([bytes]), contentType: Self.type, limits: Self.limits)
        for try await part in reader {
            let error = await failure { try await part.text(upTo: 10) }
            #expect(error?.code == .invalidText && error?.suggestedStatus == 400)
        }
    }

    // MARK: Out of turn

    @Test func `A part is read once, by the first who asks`() async throws {
        for try await part in try Self.reader(Self.field("a", "12") + "--b--", by: [1]) {
            var first = part.body.makeAsyncIterator()
            var second = part.body.makeAsyncIterator()
            #expect(try await first.next(isolation: nil).map(Array.init) == [0x31])
            #expect(await failure { try await second.next(isolation: nil) }?.code == .outOfTurn)
            #expect(await failure { try await part.collect(upTo: 9) }?.code == .outOfTurn)
            #expect(try await first.next(isolation: nil).map(Array.init) == [0x32])
            #expect(try await first.next(isolation: nil) == nil)
            #expect(try await first.next(isolation: nil) == nil)
        }
    }

    @Test func `A part that was passed cannot be read, and harms no other`() async throws {
        var iterator = try Self.reader(Self.field("a", "12") + Self.field("c", "34") + "--b--", by: [1])
            .makeAsyncIterator()
        let passed = try #require(try await iterator.next(isolation: nil))
        var begun = passed.body.makeAsyncIterator()
        _ = try await begun.next(isolation: nil)
        let part = try #require(try await iterator.next(isolation: nil))
        #expect(await failure { try await begun.next(isolation: nil) }?.code == .outOfTurn)
        #expect(await failure { try await passed.collect(upTo: 9) }?.part?.name == "a")
        #expect(try await part.text(upTo: 2) == "34")
        #expect(try await iterator.next(isolation: nil)?.headers.name == nil)
    }

    @Test func `Two who read at the same time get an error, not each other's bytes`() async throws {
        let code = try await TwoReaders().race()
        #expect(code == .outOfTurn)
    }
}

/// An actor whose calls take turns at their awaits.
private actor TwoReaders {
    private var iterator: MultipartReader<Upstream.Chunks>.Iterator?

    func race() async throws -> MultipartError.Code? {
        let upstream = Upstream()
        iterator = try MultipartReaderTests.reader("--b\r\n", then: .wait, upstream).makeAsyncIterator()
        let first = Task { try await self.next() }
        while upstream.asked < 2 { await Task.yield() }
        let code = await failure { try await self.next() }?.code
        first.cancel()
        _ = try? await first.value
        return code
    }

    private func next() async throws {
        var copy = iterator
        _ = try await copy?.next(isolation: self)
    }
}

/// Bytes that are not in one run of memory.
private struct Scattered: RandomAccessCollection, RangeReplaceableCollection, Sendable {
    private var bytes: [[UInt8]] = []

    init() {}

    init(_ bytes: [UInt8]) {
        self.bytes = bytes.map { [$0] }
    }

    var startIndex: Int { 0 }
    var endIndex: Int { bytes.count }
    subscript(index: Int) -> UInt8 { bytes[index][0] }

    mutating func replaceSubrange(_ range: Range<Int>, with new: some Collection<UInt8>) {
        bytes.replaceSubrange(range, with: new.map { [$0] })
    }
}

private struct EmptyChunks: AsyncSequence, AsyncIteratorProtocol {
    func makeAsyncIterator() -> Self { self }
    mutating func next() async throws -> [UInt8]? { [] }
}
