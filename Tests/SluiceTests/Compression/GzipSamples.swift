import Sluice
import SluiceTestSupport

/// Contents of all kinds for tests of compression.
enum GzipSamples {
    static let blockSize = Gzip.defaultBlockSize

    /// Lines of a log, which compress to a fifth or so.
    static func text(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        let words = [
            "GET", "POST", "/index.html", "/api/items", "timeout", "connection reset", "user", "session", "ok",
        ]
        var text: [UInt8] = []
        while text.count < count {
            let line = (0..<6).map { _ in words.randomElement(using: &generator) ?? "" }.joined(separator: " ")
            text += "\(UInt32.random(in: 0...UInt32.max, using: &generator)) \(line)\n".utf8
        }
        return Array(text.prefix(count))
    }

    /// Bytes without any order.
    static func random(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count {
            let word = generator.next()
            for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> (8 * shift))) }
        }
        return Array(bytes.prefix(count))
    }

    /// The member that a source is compressed to.
    static func member(
        _ source: some ByteSource,
        level: Int = Gzip.defaultLevel,
        workers: Gzip.Workers = 1,
        blockSize: Int = Gzip.defaultBlockSize,
        bufferSize: Int = 300_000
    ) throws -> [UInt8] {
        let source = try GzipSource(source, level: level, workers: workers, blockSize: blockSize)
        return unframed(try OnePart.body(source).bytes(bufferSize: bufferSize))
    }

    /// The content of a body of one part without headers.
    static func unframed(_ bytes: [UInt8]) -> [UInt8] {
        Array(bytes.dropFirst(OnePart.head.count).dropLast(OnePart.tail.count))
    }
}

extension ByteCursor {
    /// What one read of at most so many bytes gives.
    func bytes(upTo count: Int) throws -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        defer { unsafe buffer.deallocate() }
        var span = unsafe OutputRawSpan(buffer: buffer, initializedCount: 0)
        try read(into: &span)
        return unsafe Array(buffer[..<span.finalize(for: buffer)])
    }
}

extension GzipSamples {
    /// The member that a content is compressed to; nothing where that fails, which no content should.
    static func member(of content: [UInt8]) -> [UInt8] {
        (try? member(ScriptedSource(content))) ?? []
    }
}
