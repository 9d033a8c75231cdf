import Sluice
import SluiceTestSupport
import Synchronization
import Testing

/// Async sequences as parts: awaited (``MultipartBody/chunks(ofSize:)``), read by a thread, and by an event loop.
@Suite(.timeLimit(.minutes(5))) struct AsyncSourceTests {
    private struct Broken: Error, Equatable {}

    /// The ways to read a body, which must agree.
    enum Way: CaseIterable, Sendable {
        case awaited, thread, loop

        func read(_ body: MultipartBody) async throws -> [UInt8] {
            switch self {
            case .awaited: try await body.chunks(ofSize: 4).all().flatMap(\.self)
            case .thread: try await onThread { try body.bytes(bufferSize: 4) }
            case .loop: try await readWhenReady(body)
            }
        }

        /// Reads without a thread: no read may wait.
        private func readWhenReady(_ body: MultipartBody) async throws -> [UInt8] {
            #expect(body.waitsForSequencesOnly)
            let reader = try body.makeReader()
            var bytes: [UInt8] = []
            while true {
                await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                    if reader.isReady(notify: { continuation.resume() }) { continuation.resume() }
                }
                var buffer = [UInt8](repeating: 0, count: 4)
                let count = try unsafe buffer.withUnsafeMutableBytes { try unsafe reader.read(into: $0) }
                if count == 0 { return bytes }
                bytes += buffer[..<count]
            }
        }
    }

    private let content = Array("0123456789".utf8)

    private func body(_ source: AsyncSource, _ more: Part...) throws -> MultipartBody {
        var form = MultipartForm(subtype: .mixed, boundary: try Boundary("b"))
        try form.append(Part(disposition: .attachment(), mediaType: nil, source: source))
        for part in more { try form.append(part) }
        return try form.body()
    }

    private func expected(_ content: [UInt8]) -> [UInt8] {
        let disposition = Array("attachment".utf8)
        return ReferenceEncoder.encode(
            boundary: "b",
            [ReferencePart(headers: [("Content-Disposition", disposition)], content: .bytes(content))]
        )
    }

    @Test(arguments: Way.allCases, [[1], [3], [10], [11], [0, 1, 0, 0, 9, 0], [9, 1]])
    func `Chunks of any size, empty ones too, are passed on`(way: Way, sizes: [Int]) async throws {
        var chunks = chunked(content, sizes.filter { $0 > 0 })
        for place in sizes.indices where sizes[place] == 0 { chunks.insert([], at: min(place, chunks.count)) }
        let unknown = try body(AsyncSource(Upstream().chunks(chunks)))
        #expect(unknown.contentLength == nil && unknown.replay == .once && unknown.mayBlock)
        #expect(try await way.read(unknown) == expected(content))

        let known = try body(AsyncSource(Upstream().chunks(chunks), knownLength: 10))
        #expect(known.contentLength == Int64(expected(content).count))
        #expect(try await way.read(known) == expected(content))
    }

    @Test(arguments: Way.allCases)
    func `Any collection of bytes will do as a chunk`(way: Way) async throws {
        let slices = try body(AsyncSource(stream(of: [content[0..<3], content[3..<3], content[3..<10]])))
        #expect(try await way.read(slices) == expected(content))
        let strings = try body(AsyncSource(stream(of: ["0123456789"].map(\.utf8))))
        #expect(try await way.read(strings) == expected(content))
        let repeated = try body(AsyncSource(stream(of: [repeatElement(UInt8(7), count: 10)])))
        #expect(try await way.read(repeated) == expected([UInt8](repeating: 7, count: 10)))
    }

    @Test(arguments: Way.allCases)
    func `A sequence without bytes is an empty part`(way: Way) async throws {
        #expect(try await way.read(body(AsyncSource(Upstream().chunks([])))) == expected([]))
        #expect(try await way.read(body(AsyncSource(Upstream().chunks([[]]), knownLength: 0))) == expected([]))
    }

    @Test(arguments: Way.allCases)
    func `A sequence that gives fewer bytes than declared is an error that names the part`(way: Way) async throws {
        let body = try body(AsyncSource(Upstream().chunks(chunked(content, [4])), knownLength: 11))
        let error = try #require(await failure { try await way.read(body) })
        #expect(error.code == .lengthMismatch && error.part?.index == 0)
        #expect(error.reason.contains("10") && error.reason.contains("11"))
    }

    @Test(arguments: Way.allCases, [[[10]], [[4]], [[9, 1]], [[5]], [[0, 9], [1]]].map { $0.flatMap(\.self) })
    func `A sequence that gives more bytes than declared is an error`(way: Way, sizes: [Int]) async throws {
        for declared in [0, 1, 5, 9] as [Int64] {
            let chunks = chunked(content, sizes.filter { $0 > 0 })
            let body = try body(AsyncSource(Upstream().chunks(chunks), knownLength: declared))
            let error = try #require(await failure { try await way.read(body) }, "\(declared) declared")
            #expect(error.code == .lengthMismatch && error.part?.index == 0)
        }
    }

    @Test(arguments: Way.allCases)
    func `An error of the sequence comes behind the bytes before it, and is kept`(way: Way) async throws {
        let body = try body(AsyncSource(Upstream().chunks([content], then: .fail(Broken()))))
        let error = try #require(await failure { try await way.read(body) })
        #expect(error.code == .sourceFailed && error.part?.index == 0)
        #expect(error.underlyingError is Broken)
    }

    @Test(arguments: Way.allCases)
    func `A sequence of one reading is refused a second one, and not begun before the first`(way: Way) async throws {
        let upstream = Upstream()
        let body = try body(AsyncSource(upstream.chunks([content])))
        #expect(upstream.started == 0)
        #expect(try await way.read(body) == expected(content))
        for second in Way.allCases {
            let error = try #require(await failure { try await second.read(body) })
            #expect(error.code == .notReplayable && error.part?.index == 0)
        }
        #expect(upstream.started == 1)
    }

    @Test(arguments: Way.allCases)
    func `A restartable sequence gives every reading all bytes`(way: Way) async throws {
        let upstream = Upstream()
        let content = content
        let body = try body(.restartable(knownLength: 10) { upstream.chunks(chunked(content, [3])) })
        #expect(body.replay == .restartable)
        for _ in 0..<3 { #expect(try await way.read(body) == expected(content)) }
        #expect(upstream.started == 3)
    }

    @Test(arguments: Way.allCases)
    func `What the factory throws names the part`(way: Way) async throws {
        let body = try body(.restartable { () throws -> Upstream.Chunks in throw Broken() })
        let error = try #require(await failure { try await way.read(body) })
        #expect(error.code == .sourceFailed && error.underlyingError is Broken && error.part?.index == 0)
    }

    @Test(arguments: [-1, Int64.min])
    func `A negative length is refused when the body is made`(declared: Int64) {
        #expect(throwing(.lengthMismatch) { try body(AsyncSource(Upstream().chunks([]), knownLength: declared)) })
    }

    @Test func `Awaited chunks keep their size up to the chunk size, and are cut above it`() async throws {
        let body = try body(AsyncSource(Upstream().chunks([[1, 2], [3, 4, 5, 6, 7, 8, 9], [], [10]])))
        let chunks = try await body.chunks(ofSize: 3).all()
        let first = try #require(chunks.firstIndex(of: [1, 2]))
        #expect(Array(chunks[first..<first + 5]) == [[1, 2], [3, 4, 5], [6, 7, 8], [9], [10]])
        #expect(chunks.allSatisfy { (1...3).contains($0.count) })
    }

    @Test func `An awaited array that fits is handed on without a copy`() async throws {
        let array = [UInt8](repeating: 1, count: 100_000)
        let address = unsafe array.withUnsafeBytes { $0.baseAddress }
        let body = try body(AsyncSource(stream(of: [array])))
        var addresses = unsafe [UnsafeRawPointer?]()
        for try await chunk in body.chunks() {
            unsafe chunk.withUnsafeBytes { unsafe addresses.append($0.baseAddress) }
        }
        #expect(unsafe addresses.contains(address))
    }

    @Test(arguments: [0, 1, 2, 5, 9, 10] as [Int64])
    func `A slice that begins within a sequence drops what comes before it`(start: Int64) async throws {
        let whole = expected(content)
        let content = content
        let sequence = AsyncSource.restartable(knownLength: 10) { Upstream().chunks(chunked(content, [3, 1, 4])) }
        let body = try body(sequence)
        let offset = try #require(body.contentRanges[0]).lowerBound + start
        for end in offset...Int64(whole.count) {
            let slice = try body.slice(offset..<end)
            #expect(try await slice.chunks(ofSize: 2).all().flatMap(\.self) == Array(whole[Int(offset)..<Int(end)]))
            let bytes = try await onThread { try slice.bytes(bufferSize: 2) }
            #expect(bytes == Array(whole[Int(offset)..<Int(end)]))
        }
    }
}
