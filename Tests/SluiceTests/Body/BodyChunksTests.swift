import Sluice
import SluiceTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct BodyChunksTests {
    @Test(arguments: [1, 7, 64, 4096, 1 << 20], [true, false])
    func `Chunks of every size give the same bytes, and none is empty or too large`(
        size: Int,
        isLengthKnown: Bool
    ) async throws {
        let sample = try SampleForm(isLengthKnown: isLengthKnown)
        let chunks = try await sample.form.body().chunks(ofSize: size).all()
        #expect(chunks.flatMap(\.self) == sample.expected)
        #expect(chunks.allSatisfy { (1...size).contains($0.count) })
    }

    @Test(arguments: seeds(fixed: 60, fresh: 30))
    func `Random forms come out as the reference encoder writes them`(seed: UInt64) async throws {
        let async: RandomForm.Source = { content, filename in
            .file("n", AsyncSource(stream(of: chunked(content, [1, 100, 3000]))), filename: filename)
        }
        var forms = RandomForm(seed: seed, sources: RandomForm.plainSources + [async, async])
        let (form, expected, _) = try forms.next()
        let chunks = try await form.body().chunks(ofSize: 1 + Int(seed % 5000)).all()
        #expect(chunks.flatMap(\.self) == expected, "seed \(seed)")
    }

    @Test(arguments: [0, -1, Int.min])
    func `A size below one is one`(size: Int) async throws {
        let body = try OnePart.body(Part(disposition: nil, mediaType: nil, bytes: [1, 2]))
        #expect(try await body.chunks(ofSize: size).all() == OnePart.framed([1, 2]).map { [$0] })
    }

    @Test func `A size above every body's is one chunk`() async throws {
        let body = try OnePart.body(Part(disposition: nil, mediaType: nil, bytes: [1, 2]))
        for size in [1 << 40, Int.max] {
            #expect(try await body.chunks(ofSize: size).all() == [OnePart.framed([1, 2])])
        }
    }

    @Test func `A body of a slice without bytes has no chunks`() async throws {
        let body = try SampleForm(isLengthKnown: true).form.body()
        #expect(try await body.slice(0..<0).chunks().all().isEmpty)
        #expect(try await body.slice(50..<50).chunks().all().isEmpty)
    }

    @Test func `Every iteration is a reading of its own, also at the same time`() async throws {
        let sample = try SampleForm(isLengthKnown: true)
        let chunks = try sample.form.body().chunks(ofSize: 10)
        var first = chunks.makeAsyncIterator()
        var second = chunks.makeAsyncIterator()
        var (one, two): ([UInt8], [UInt8]) = ([], [])
        while let chunk = try await first.next() {
            one += chunk
            if let chunk = try await second.next() { two += chunk }
        }
        while let chunk = try await second.next() { two += chunk }
        #expect(one == sample.expected && two == sample.expected)
        async let third = chunks.all()
        async let fourth = chunks.all()
        #expect(try await third.flatMap(\.self) == sample.expected)
        #expect(try await fourth.flatMap(\.self) == sample.expected)
    }

    @Test func `An iterator at its end stays there`() async throws {
        var iterator = try OnePart.body(Part(disposition: nil, mediaType: nil, bytes: [])).chunks().makeAsyncIterator()
        #expect(try await iterator.next() == OnePart.framed([]))
        for _ in 0..<3 { #expect(try await iterator.next() == nil) }
    }

    @Test(arguments: [0, 1, 2, 3])
    func `Errors name the part, come behind the bytes before it, and stay`(place: Int) async throws {
        let broken: [Part] = [
            Part(disposition: nil, mediaType: nil, source: ScriptedSource([1, 2, 3], failsAfter: 2)),
            Part(disposition: nil, mediaType: nil, source: ScriptedSource([1, 2], knownLength: 3)),
            Part(
                disposition: nil,
                mediaType: nil,
                source: AsyncSource(Upstream().chunks([[1, 2]], then: .fail(CancellationError())))
            ),
            Part(disposition: nil, mediaType: nil, source: AsyncSource(Upstream().chunks([[1, 2]]), knownLength: 3)),
        ]
        let body = try MultipartForm(subtype: .mixed, boundary: Boundary("b")) {
            Part(disposition: nil, mediaType: nil, bytes: [9])
            broken[place]
        }.body()
        var iterator = body.chunks(ofSize: 100).makeAsyncIterator()
        var bytes: [UInt8] = []
        var errors: [MultipartError] = []
        while errors.count < 3 {
            do throws(MultipartError) {
                if let chunk = try await iterator.next() { bytes += chunk } else { break }
            } catch {
                errors.append(error)
            }
        }
        #expect(difference(bytes, Array("--b\r\n\r\n\u{9}\r\n--b\r\n\r\n\u{1}\u{2}".utf8)) == nil)
        let codes: [MultipartError.Code] = [.readFailed, .lengthMismatch, .cancelled, .lengthMismatch]
        #expect(errors.map(\.code) == [codes[place], codes[place], codes[place]])
        #expect(errors.first?.part?.index == 1)
    }

    @Test func `A thread reads one chunk ahead of the consumer and no further`() async throws {
        let given = Mutex(0)
        let source = GeneratorSource.once { buffer in
            let number = given.withLock { given in
                given += 1
                return given
            }
            if number <= 5000 { buffer.append(UInt8(truncatingIfNeeded: number)) }
        }
        var taken: [UInt8] = []
        for try await chunk in try OnePart.body(source).chunks(ofSize: 100) {
            #expect(chunk.count <= 100)
            taken += chunk
            // One chunk waits to be taken, and the thread may be at the byte that begins the one behind it.
            #expect(given.withLock { $0 } <= max(taken.count - OnePart.head.count, 0) + 101)
            for _ in 0..<3 { await Task.yield() }
        }
        let content = (1...5000).map { UInt8(truncatingIfNeeded: $0) }
        #expect(difference(taken, OnePart.head + content + OnePart.tail) == nil)
    }

    private struct Broken: Error {}

    @Test(arguments: [false, true])
    func `Bytes that come while nobody takes them are one chunk`(fails: Bool) async throws {
        let given = Mutex(0)
        let source = GeneratorSource.once { buffer in
            let number = given.withLock { given in
                given += 1
                return given
            }
            if number <= 100 { buffer.append(UInt8(number)) } else if fails { throw Broken() }
        }
        var chunks = try OnePart.body(source).chunks(ofSize: 1000).makeAsyncIterator()
        // The thread begins when it is asked, and whatever is there by then comes.
        var taken = try await chunks.next() ?? []
        #expect(await eventually { given.withLock { $0 } == 101 })
        if taken.count < OnePart.head.count + 100 { taken += try await chunks.next() ?? [] }
        #expect(difference(Array(taken.prefix(OnePart.head.count + 100)), OnePart.head + Array(1...100)) == nil)
        if fails {
            do throws(MultipartError) {
                _ = try await chunks.next()
                Issue.record("no error")
            } catch {
                #expect(error.code == .sourceFailed)
            }
        } else {
            while let chunk = try await chunks.next() { taken += chunk }
            #expect(difference(taken, OnePart.head + Array(1...100) + OnePart.tail) == nil)
        }
    }

    @Test func `Iterating stays on the caller's actor`() async throws {
        try await iterateOnMainActor(SampleForm(isLengthKnown: true).form.body())
    }

    @MainActor private func iterateOnMainActor(_ body: MultipartBody) async throws {
        var count = 0
        for try await chunk in body.chunks(ofSize: 50) {
            MainActor.assertIsolated()
            count += chunk.count
        }
        #expect(Int64(count) == body.contentLength)
    }
}
