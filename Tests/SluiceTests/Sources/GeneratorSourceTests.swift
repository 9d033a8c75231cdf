import Sluice
import SluiceTestSupport
import Synchronization
import Testing

@Suite struct GeneratorSourceTests {
    private struct Broken: Error, Equatable {
        let number: Int
    }

    private let content = Array("0123456789".utf8)

    private func body(_ source: GeneratorSource) throws -> MultipartBody {
        var form = MultipartForm(subtype: .mixed, boundary: try Boundary("b"))
        try form.append(Part(disposition: .attachment(filename: "gen"), mediaType: nil, source: source))
        return try form.body()
    }

    private func expected(_ content: [UInt8]) -> [UInt8] {
        let disposition = Array("attachment; filename=\"gen\"".utf8)
        return ReferenceEncoder.encode(
            boundary: "b",
            [ReferencePart(headers: [("Content-Disposition", disposition)], content: .bytes(content))]
        )
    }

    @Test(arguments: [1, 3, 10, 11], [1, 4, 10, 1000])
    func `A generator is run until it appends nothing`(step: Int, bufferSize: Int) throws {
        let body = try body(.once(generator(of: content, step: step)))
        #expect(body.contentLength == nil && body.replay == .once && body.mayBlock)
        #expect(try body.bytes(bufferSize: bufferSize) == expected(content))
    }

    @Test func `A generator that appends nothing at all is an empty part`() throws {
        #expect(try body(.once { _ in }).bytes() == expected([]))
        #expect(try body(.restartable { { _ in } }).bytes() == expected([]))
        #expect(try body(.once(knownLength: 0) { _ in }).bytes() == expected([]))
    }

    @Test func `A generator of one reading is refused a second one, and the part is named`() throws {
        let body = try body(.once(generator(of: content)))
        #expect(try body.bytes() == expected(content))
        let error = try #require(throws: MultipartError.self) { try body.bytes() }
        #expect(error.code == .notReplayable)
        #expect(error.part?.index == 0)
    }

    @Test func `The second of two readers of one reading is refused, however they are interleaved`() throws {
        let body = try body(.once(generator(of: content, step: 1)))
        let (first, second) = (try body.makeReader(), try body.makeReader())
        let head = expected([]).count - "\r\n--b--\r\n".utf8.count
        var buffer = [UInt8](repeating: 0, count: head + 1)
        #expect(try unsafe buffer.withUnsafeMutableBytes { unsafe try first.read(into: $0) } == head)
        #expect(try second.rest(bufferSize: 1).starts(with: expected(content)))
        #expect(throwing(.notReplayable) { try first.rest(bufferSize: 1) })
    }

    @Test func `A restartable generator gives every reader all bytes`() throws {
        let starts = Mutex(0)
        let content = content
        let body = try body(
            .restartable(knownLength: 10) {
                starts.withLock { $0 += 1 }
                return generator(of: content, step: 4)
            }
        )
        #expect(body.replay == .restartable)
        #expect(body.contentLength == Int64(expected(content).count))
        let (first, second) = (try body.makeReader(), try body.makeReader())
        #expect(starts.withLock { $0 } == 0)
        #expect(try first.rest(bufferSize: 7) == expected(content))
        #expect(try second.rest(bufferSize: 100) == expected(content))
        #expect(starts.withLock { $0 } == 2)
    }

    @Test(arguments: [11, 1000, 1 << 40] as [Int64])
    func `A generator that ends before its declared length is an error that names the part`(declared: Int64) throws {
        let content = content
        let body = try body(.restartable(knownLength: declared) { generator(of: content) })
        let error = try #require(throws: MultipartError.self) { try body.bytes() }
        #expect(error.code == .lengthMismatch)
        #expect(error.part?.index == 0)
        #expect(error.reason.contains("10 bytes") && error.reason.contains("\(declared)"))
    }

    @Test(arguments: [0, 1, 5, 9] as [Int64], [1, 3, 100])
    func `A generator is cut at its declared length, and never has more room than that leaves`(
        declared: Int64,
        bufferSize: Int
    ) throws {
        let content = content
        let tooMuchRoom = Mutex(false)
        let body = try body(
            .restartable(knownLength: declared) {
                var given: Int64 = 0
                let next = generator(of: content)
                return { buffer in
                    if Int64(buffer.freeCapacity) > declared - given { tooMuchRoom.withLock { $0 = true } }
                    let before = buffer.byteCount
                    try next(&buffer)
                    given += Int64(buffer.byteCount - before)
                }
            }
        )
        #expect(try body.bytes(bufferSize: bufferSize) == expected(Array(content.prefix(Int(declared)))))
        #expect(!tooMuchRoom.withLock { $0 })
    }

    @Test func `What a generator throws is kept, and the reader throws it again`() throws {
        let calls = Mutex(0)
        let body = try body(
            .once { buffer in
                calls.withLock { $0 += 1 }
                throw Broken(number: 7)
            }
        )
        let reader = try body.makeReader()
        for _ in 0..<3 {
            let error = try #require(failure(of: { try reader.rest(bufferSize: 100) }))
            #expect(error.code == .sourceFailed)
            #expect(error.underlyingError as? Broken == Broken(number: 7))
            #expect(error.part?.index == 0)
        }
        #expect(calls.withLock { $0 } == 1)
    }

    @Test func `Errors of the engine's own kind, and cancellation, keep their code`() throws {
        let own = try body(.once { _ in throw MultipartError(.limitExceeded, "enough") })
        #expect(throwing(.limitExceeded) { try own.bytes() })
        let cancelled = try body(.once { _ in throw CancellationError() })
        #expect(throwing(.cancelled) { try cancelled.bytes() })
    }

    @Test func `What a factory throws comes out where the part is read, each time anew`() throws {
        let calls = Mutex(0)
        let body = try body(
            .restartable {
                let call = calls.withLock { calls in
                    calls += 1
                    return calls
                }
                throw Broken(number: call)
            }
        )
        for call in 1...2 {
            let error = try #require(failure(of: { try body.bytes() }))
            #expect(error.code == .sourceFailed)
            #expect(error.underlyingError as? Broken == Broken(number: call))
        }
    }

    @Test(arguments: [[10], [3, 4, 3], [0, 1, 0, 0, 9, 0], [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]], [1, 4, 1000])
    func `Chunks of any size are kept where they do not fit`(sizes: [Int], bufferSize: Int) throws {
        let content = content
        let source = GeneratorSource.chunks(knownLength: 10) {
            var rest = content[...]
            var sizes = sizes[...]
            return {
                guard let size = sizes.popFirst() else { return nil }
                defer { rest = rest.dropFirst(size) }
                return Array(rest.prefix(size))
            }
        }
        let body = try body(source)
        #expect(body.replay == .restartable)
        for offset in 0...expected(content).count {
            let bytes = try body.bytes(from: Int64(offset), bufferSize: bufferSize)
            #expect(bytes == Array(expected(content)[offset...]))
        }
    }

    @Test func `Chunks that are fewer than declared, or fail, are errors`() throws {
        let content = content
        let short = GeneratorSource.chunks(knownLength: 11) {
            var isFirst = true
            return {
                defer { isFirst = false }
                return isFirst ? content : nil
            }
        }
        #expect(throwing(.lengthMismatch) { try body(short).bytes() })
        let failing = GeneratorSource.chunks { { throw Broken(number: 3) } }
        #expect(failure(of: { try body(failing).bytes() })?.underlyingError as? Broken == Broken(number: 3))
    }

    @Test(arguments: [-1, Int64.min])
    func `A negative length is refused when the body is made`(declared: Int64) throws {
        let error = try #require(throws: MultipartError.self) { try body(.once(knownLength: declared) { _ in }) }
        #expect(error.code == .lengthMismatch)
        #expect(error.part?.index == 0)
    }
}
