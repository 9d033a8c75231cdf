import SluiceTestSupport
import Testing

@testable import Sluice

/// What goes wrong in a compressed part's source is told as it is for a plain part, whatever the number of workers.
@Suite(.timeLimit(.minutes(10))) struct GzipFailureTests {
    private static let content = GzipSamples.text(700_000)

    private func body(_ part: Part) throws -> MultipartBody {
        var form = MultipartForm()
        try form.append(.field("first", "1"))
        try form.append(part)
        return try form.body()
    }

    @Test(arguments: [1, 2, 3], [0, 1, 131_072, 300_000, 699_999])
    func `A source that fails midway fails the reader, and names the part`(workers: Int, failsAfter: Int) async throws {
        let source = ScriptedSource(Self.content, step: 50_000, failsAfter: failsAfter)
        let part = Part.file("bad", source, filename: "f").gzip(workers: .init(workers))
        let body = try body(part)
        try await onThread {
            let reader = try body.makeReader()
            for _ in 0..<2 {
                let error = try #require(failure { try reader.rest(bufferSize: 10_000) })
                #expect(error.code == .readFailed && error.errno == 5)
                #expect(error.part == .init(index: 1, name: "bad"))
            }
        }
    }

    @Test(arguments: [1, 2])
    func `A cursor that failed fails again`(workers: Int) throws {
        let source = try GzipSource(ScriptedSource(Self.content, failsAfter: 10), workers: .init(workers))
        let cursor = try source.open(at: 0)
        for _ in 0..<3 { #expect(throwing(.readFailed) { try cursor.bytes(upTo: 1000) }) }
    }

    @Test(arguments: [1, 2], [700_001, 900_000, 100_000_000])
    func `A source of fewer bytes than it declared is told as a plain one`(workers: Int, declared: Int) async throws {
        let source = ScriptedSource(Self.content, knownLength: Int64(declared), step: 100_000)
        let plain = try #require(failure { try body(.file("p", source, filename: "f")).bytes() })
        let compressed = try body(Part.file("p", source, filename: "f").gzip(workers: .init(workers)))
        let error = try #require(await failure { try await onThread { try compressed.bytes() } })
        #expect(error.code == .lengthMismatch && error.description == plain.description)
    }

    @Test(arguments: [1, 2])
    func `A source of more bytes than it declared is not asked for them`(workers: Int) throws {
        let source = ScriptedSource(Self.content, knownLength: 131_072)
        let member = try GzipSamples.member(source, workers: .init(workers))
        #expect(difference(member, try GzipSamples.member(ScriptedSource(Array(Self.content.prefix(131_072))))) == nil)
    }

    /// Says something else each time it is asked for its length.
    private struct Fickle: ByteSource {
        let lengths: [Int64]
        let asked = Box<Int>()
        var replay: Replay { .restartable }

        var knownLength: Int64? {
            let turn = asked.value ?? 0
            asked.value = turn + 1
            return lengths[turn % lengths.count]
        }

        func open(at offset: Int64) throws(MultipartError) -> any ByteCursor {
            try ScriptedSource(GzipFailureTests.content, step: 10_000).open(at: offset)
        }
    }

    @Test(arguments: [[-1], [Int64.min], [10, 700_000], [700_000, 10], [0, 131_072, .max], [.max, 1]], [1, 2])
    func `A source that does not know its length does no harm`(lengths: [Int64], workers: Int) throws {
        let source = try GzipSource(Fickle(lengths: lengths), workers: .init(workers))
        let cursor = try source.open(at: 0)
        var count = 0
        // To the end, or to an error.
        let error = failure {
            while case let bytes = try cursor.bytes(upTo: 300_000), !bytes.isEmpty { count += bytes.count }
        }
        #expect(error == nil || error?.code == .lengthMismatch)
        #expect(count < 1_000_000)
    }

    struct Broken: Error {}

    @Test(arguments: [1, 2])
    func `An async sequence's own error is kept`(workers: Int) async throws {
        let upstream = Upstream()
        let source = AsyncSource(upstream.chunks(chunked(Self.content, [10_000]), then: .fail(Broken())))
        let body = try body(Part.file("p", source, filename: "f").gzip(workers: .init(workers)))
        let error = try #require(await failure { try await onThread { try body.bytes() } })
        #expect(error.code == .sourceFailed && error.underlyingError is Broken && error.part?.name == "p")
    }

    @Test(arguments: [1, 2], [-1, 1])
    func `An async sequence of another length than declared is an error`(workers: Int, excess: Int) async throws {
        let source = AsyncSource(
            stream(of: chunked(Self.content, [10_000])),
            knownLength: Int64(Self.content.count - excess)
        )
        let body = try body(Part.file("p", source, filename: "f").gzip(workers: .init(workers)))
        #expect(await failure { try await onThread { try body.bytes() } }?.code == .lengthMismatch)
    }

    enum Change: CaseIterable, Sendable { case shrinks, isReplaced, isDeleted }

    @Test(arguments: Change.allCases, [1, 2])
    func `A file that changes is told as in a plain part`(change: Change, workers: Int) async throws {
        let directory = try TemporaryDirectory()
        let path = try directory.file("file", Self.content)
        let body = try body(Part.file("p", path: path).gzip(workers: .init(workers)))
        let code: MultipartError.Code
        switch change {
        case .shrinks:
            try Files.cut(path, to: 1000)
            code = .fileShrank
        case .isReplaced:
            try Files.move(try directory.file("other", Self.content), to: path)
            code = .fileChanged
        case .isDeleted:
            try Files.remove(path)
            code = .fileChanged
        }
        let error = try #require(await failure { try await onThread { try body.bytes() } })
        #expect(error.code == code && error.part?.name == "p" && error.path == path)
    }

    @Test func `A part that can be read once is compressed once`() async throws {
        let part = Part.file("p", GeneratorSource.once(generator(of: Self.content)), filename: "f").gzip(workers: 2)
        let body = try body(part)
        #expect(body.replay == .once)
        _ = try await onThread { try body.bytes() }
        #expect(await failure { try await onThread { try body.bytes() } }?.code == .notReplayable)
    }

    @Test(arguments: [1, 2, 3])
    func `Without a thread there is an error, and with one it is enough`(failing: Int) async {
        await #expect(processExitsWith: .success) { [failing = failing as Int] in
            let source = try GzipSource(ScriptedSource(Self.content, step: 70_000), workers: 3)
            let expected = try GzipSamples.member(ScriptedSource(Self.content))
            SystemFaults.arm(.init(call: failing, .failure(Errno(11)), staysBroken: true))
            let result = Result { try GzipSamples.unframed(OnePart.body(source).bytes()) }
            #expect(SystemFaults.disarm().hit == "pthread_create")
            if failing == 1 {
                #expect((result.failure as? MultipartError)?.code == .resourcesExhausted)
            } else {
                #expect(try difference(result.get(), expected) == nil)
            }
            #expect(await eventually { !ProcessState.threadNames().contains("sluice-gzip") })
        }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
