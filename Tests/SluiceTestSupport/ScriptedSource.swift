package import Sluice

/// A source of one's own whose every trait a test chooses.
package struct ScriptedSource: ByteSource {
    package var content: [UInt8]
    package var knownLength: Int64?
    package var replay: Replay
    package var mayBlock: Bool
    /// The most bytes that one read gives.
    package var step: Int
    /// The number of bytes after which reading fails.
    package var failsAfter: Int?

    package init(
        _ content: [UInt8],
        knownLength: Int64? = nil,
        replay: Replay = .seekable,
        mayBlock: Bool = true,
        step: Int = .max,
        failsAfter: Int? = nil
    ) {
        self.content = content
        self.knownLength = knownLength
        self.replay = replay
        self.mayBlock = mayBlock
        self.step = step
        self.failsAfter = failsAfter
    }

    package func open(at offset: Int64) throws(MultipartError) -> any ByteCursor {
        guard replay == .seekable || offset == 0 else {
            throw MultipartError(.invalidRange, "opened at \(offset), which it does not offer")
        }
        return ScriptedCursor(self, at: Int(min(offset, Int64(content.count))))
    }
}

private final class ScriptedCursor: ByteCursor {
    private let source: ScriptedSource
    private var offset: Int

    init(_ source: ScriptedSource, at offset: Int) {
        self.source = source
        self.offset = offset
    }

    func read(into buffer: inout OutputRawSpan) throws(MultipartError) {
        if let failsAfter = source.failsAfter, offset >= failsAfter {
            throw MultipartError(.readFailed, "failed as the script says", errno: 5)
        }
        let end = min(offset + min(source.step, buffer.freeCapacity), source.failsAfter ?? .max, source.content.count)
        for byte in source.content[offset..<end] { buffer.append(byte) }
        offset = end
    }
}

/// Bytes that an async sequence gives in chunks of these sizes; the last size repeats.
package func chunked(_ content: [UInt8], _ sizes: [Int]) -> [[UInt8]] {
    var rest = content[...]
    var chunks: [[UInt8]] = []
    var index = 0
    while !rest.isEmpty {
        chunks.append(Array(rest.prefix(sizes[min(index, sizes.count - 1)])))
        rest = rest.dropFirst(sizes[min(index, sizes.count - 1)])
        index += 1
    }
    return chunks
}

/// An async sequence of these chunks, which is always ready.
package func stream<Element: Sendable>(of chunks: [Element]) -> AsyncStream<Element> {
    AsyncStream { continuation in
        for chunk in chunks { continuation.yield(chunk) }
        continuation.finish()
    }
}

/// A generator of these bytes that gives at most `step` of them at a time.
package func generator(of content: [UInt8], step: Int = .max) -> GeneratorSource.Generator {
    var rest = content[...]
    return { buffer in
        let next = rest.prefix(min(step, buffer.freeCapacity))
        for byte in next { buffer.append(byte) }
        rest = rest.dropFirst(next.count)
    }
}
