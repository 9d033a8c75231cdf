import Sluice
import SluiceTestSupport
import Testing

/// What comes out, as gzip(1) and Python's zlib see it.
@Suite(.timeLimit(.minutes(10))) struct GzipOutputTests {
    static let sizes = [
        0, 1, 100, 32_767, 32_768, 32_769, GzipSamples.blockSize - 1, GzipSamples.blockSize,
        GzipSamples.blockSize + 1, 2 * GzipSamples.blockSize, 400_000,
    ]

    @Test(arguments: 0...9, Gunzip.Tool.allCases)
    func `Every level and size is decompressed by others`(level: Int, tool: Gunzip.Tool) async throws {
        let contents = Self.sizes.flatMap { [GzipSamples.text($0), GzipSamples.random($0)] }
        let members = try contents.map { content in
            try GzipSamples.member(ScriptedSource(content), level: level)
        }
        for (content, result) in zip(contents, try await Gunzip.decompress(members, by: tool)) {
            #expect(try difference(#require(result), content) == nil, "\(content.count) bytes")
        }
    }

    @Test(arguments: [1, 6, 9])
    func `It is about as small as what gzip(1) makes`(level: Int) async throws {
        let content = GzipSamples.text(3_000_000)
        let directory = try TemporaryDirectory()
        let path = try directory.file("text", content)
        let size = try await onThread {
            try ChildProcess(["/bin/sh", "-c", "gzip -n -\(level) < \"$0\" | wc -c", path]).readLine() ?? ""
        }
        let member = try GzipSamples.member(ScriptedSource(content), level: level)
        #expect(try Double(member.count) <= 1.01 * #require(Double(size)))
    }

    @Test(arguments: [2, 3, 8])
    func `Any number of workers gives the same bytes`(workers: Int) throws {
        let content =
            GzipSamples.text(500_000) + GzipSamples.random(500_000) + GzipSamples.text(GzipSamples.blockSize * 3)
        for size in Self.sizes + [content.count, content.count / 2] {
            let source = ScriptedSource(Array(content.prefix(size)))
            let one = try GzipSamples.member(source)
            #expect(difference(try GzipSamples.member(source, workers: .init(workers)), one) == nil)
            #expect(difference(try GzipSamples.member(source, workers: .automatic), one) == nil)
        }
    }

    @Test(arguments: seeds(fixed: 4, fresh: 2))
    func `Neither reads of the source nor of the body change the bytes`(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let size = Int.random(in: 0...700_000, using: &generator)
        let content =
            GzipSamples.text(size / 2, seed: seed) + GzipSamples.random(size / 4) + GzipSamples.text(size / 4)
        let level = Int.random(in: 0...9, using: &generator)
        let blockSize = Int.random(in: 32 * 1024...300_000, using: &generator)
        let whole = try GzipSamples.member(ScriptedSource(content), level: level, blockSize: blockSize)
        for workers in [1, 1, 2, 3] {
            let step = Int.random(in: 1...100_000, using: &generator)
            let length = Bool.random(using: &generator) ? Int64(content.count) : nil
            let member = try GzipSamples.member(
                ScriptedSource(content, knownLength: length, replay: .once, step: step),
                level: level,
                workers: .init(workers),
                blockSize: blockSize,
                bufferSize: Int.random(in: 1...400_000, using: &generator)
            )
            #expect(difference(member, whole) == nil, "workers \(workers), step \(step)")
        }
        #expect(try await difference(#require(Gunzip.decompress([whole])[0]), content) == nil)
    }

    /// Where a part's bytes can come from.
    enum Origin: CaseIterable, Sendable {
        case memory, text, file, generator, async, asyncOfKnownLength, pipe, descriptor
    }

    private func part(_ origin: Origin, _ content: [UInt8], _ directory: TemporaryDirectory) throws -> Part {
        let step = 10_000
        return switch origin {
        case .memory: Part(disposition: nil, mediaType: nil, bytes: content)
        case .text: .field("text", String(decoding: content, as: UTF8.self))
        case .file: Part(disposition: nil, mediaType: nil, file: FileSource(path: try directory.file("file", content)))
        case .generator:
            Part(disposition: nil, mediaType: nil, source: GeneratorSource.once(generator(of: content, step: step)))
        case .async: Part(disposition: nil, mediaType: nil, source: AsyncSource(stream(of: chunked(content, [step]))))
        case .asyncOfKnownLength:
            Part(
                disposition: nil,
                mediaType: nil,
                source: AsyncSource(stream(of: chunked(content, [step])), knownLength: Int64(content.count))
            )
        case .pipe:
            Part(
                disposition: nil,
                mediaType: nil,
                file: FileSource(descriptor: try Channel.filled(with: content).readEnd, ownership: .owned)
            )
        case .descriptor:
            Part(
                disposition: nil,
                mediaType: nil,
                file: FileSource(
                    descriptor: try Files.descriptor(of: try directory.file("file", content)),
                    ownership: .owned
                )
            )
        }
    }

    @Test(arguments: Origin.allCases, [1, 2])
    func `Bytes of every origin can be compressed`(origin: Origin, workers: Int) async throws {
        let content = GzipSamples.text(600_000)
        let directory = try TemporaryDirectory()
        var part = try part(origin, content, directory).gzip(workers: .init(workers))
        part.disposition = nil
        part.mediaType = nil
        let body = try OnePart.body(part)
        #expect(body.contentLength == nil && body.mayBlock)
        let bytes = try await onThread { try body.bytes() }
        let expected = try GzipSamples.member(ScriptedSource(content))
        #expect(difference(GzipSamples.unframed(bytes), expected) == nil)
    }
}
