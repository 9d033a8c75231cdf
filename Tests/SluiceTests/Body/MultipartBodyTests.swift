import Sluice
import SluiceTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct MultipartBodyTests {
    private let content = TemporaryDirectory.noise(100_000)

    private func bodies() throws -> [MultipartBody] {
        [
            try OnePart.body(Part(disposition: nil, mediaType: nil, bytes: content)),
            try OnePart.body(GeneratorSource.restartable { [content] in generator(of: content, step: 7000) }),
        ]
    }

    @Test func `A body that is not longer than the limit is collected`() throws {
        let expected = OnePart.framed(content)
        for body in try bodies() {
            for limit in [expected.count, expected.count + 1, Int.max] {
                #expect(difference(try body.collect(upTo: limit), expected) == nil)
            }
        }
    }

    @Test func `A body that is longer than the limit is not`() throws {
        let length = OnePart.framed(content).count
        for body in try bodies() {
            for limit in [length - 1, 1, 0, -1, Int.min] {
                #expect(throwing(.limitExceeded) { try body.collect(upTo: limit) }, "\(limit)")
            }
        }
    }

    @Test func `A body of known length that is too long is not even begun`() throws {
        let isRead = Mutex(false)
        let source = GeneratorSource.restartable(knownLength: 1 << 40) {
            isRead.withLock { $0 = true }
            return { _ in }
        }
        let error = try #require(failure(of: { try OnePart.body(source).collect(upTo: 1000) }))
        #expect(error.code == .limitExceeded && error.reason.contains("\(1 << 40 + OnePart.framed([]).count)"))
        #expect(!isRead.withLock { $0 })
    }

    @Test func `An endless body is not collected beyond the limit`() throws {
        let given = Mutex(0)
        let body = try OnePart.body(
            GeneratorSource.once { buffer in
                given.withLock { $0 += buffer.freeCapacity }
                for _ in 0..<buffer.freeCapacity { buffer.append(0 as UInt8) }
            }
        )
        #expect(throwing(.limitExceeded) { try body.collect(upTo: 100_000) })
        // One doubling past the limit at most.
        #expect(given.withLock { $0 } < 400_000)
    }

    @Test func `Collecting stops at the first error, which names the part`() throws {
        let body = try OnePart.body(ScriptedSource(content, failsAfter: 50_000))
        let error = try #require(failure(of: { try body.collect(upTo: .max) }))
        #expect(error.code == .readFailed && error.part?.index == 0)
    }

    @Test func `Where each part's content lies is known as far as lengths are`() throws {
        let body = try MultipartForm(subtype: .mixed, boundary: Boundary("b")) {
            Part(disposition: nil, mediaType: nil, bytes: [1, 2])
            Part(disposition: nil, mediaType: nil, bytes: [])
            Part(disposition: nil, mediaType: nil, source: .once { _ in } as GeneratorSource)
            Part(disposition: nil, mediaType: nil, bytes: [3])
        }.body()
        // "--b\r\n\r\n", two bytes, "\r\n--b\r\n\r\n", none, and from the third part on nobody knows.
        #expect(body.contentRanges == [7..<9, 18..<18, nil, nil])
        #expect(body.contentLength == nil)
        #expect(body.parts.map(\.index) == [0, 1, 2, 3])
    }

    @Test func `The content type of a body is its form's`() throws {
        var form = MultipartForm(subtype: .mixed, boundary: try Boundary("a b"))
        try form.addParameter(name: "x", value: "y")
        #expect(try form.body().contentType == form.contentType)
        #expect(form.contentType == "multipart/mixed; x=y; boundary=\"a b\"")
    }

    @Test(arguments: [true, false])
    func `A body may wait where one of its sources may`(mayBlock: Bool) throws {
        #expect(try OnePart.body(ScriptedSource([1], mayBlock: mayBlock)).mayBlock == mayBlock)
        #expect(try OnePart.body(FileSource(path: "/dev/null")).mayBlock)
        #expect(try OnePart.body(AsyncSource(stream(of: [[1]]))).mayBlock)
        #expect(try !OnePart.body(Part(disposition: nil, mediaType: nil, bytes: [])).mayBlock)
    }

    @Test func `One body serves many readers at the same time`() async throws {
        let sample = try SampleForm(isLengthKnown: true)
        let body = try sample.form.body()
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for number in 0..<50 {
                group.addTask {
                    number % 2 == 0
                        ? try await onThread { try body.bytes(bufferSize: number + 1) }
                        : try await body.chunks(ofSize: number).all().flatMap(\.self)
                }
            }
            for try await bytes in group { #expect(bytes == sample.expected) }
        }
    }
}
