package import Sluice

/// What a parser makes of bytes in chunks, in a form that does not depend on the chunks.
package struct ParserLog: Equatable, Sendable, CustomStringConvertible {
    /// A part with all of its content.
    package struct Part: Equatable, Sendable, CustomStringConvertible {
        package var headers: [HeaderField]
        package var name: String?
        package var filename: String?
        package var contentOffset: Int64
        package var content: [UInt8] = []
        package var isEnded = false

        package var description: String {
            "\(headers.map { "\($0.name): \($0.value)" }) at \(contentOffset): "
                + "\(String(decoding: content.prefix(100), as: UTF8.self).debugDescription)\(isEnded ? "" : "...")"
        }
    }

    package var parts: [Part] = []
    package var hasEnd = false
    /// The error's kind, offset and part, in a line.
    package var failure: String?
    package var code: MultipartError.Code?
    package var errorOffset: Int64?
    /// The offset behind the close delimiter.
    package var endOffset: Int64 = 0

    package init() {}

    package var description: String {
        "\(parts)\(hasEnd ? " end at \(endOffset)" : "")\(failure.map { " \($0)" } ?? "")"
    }

    /// The contents, for comparisons that people can read.
    package var texts: [String] { parts.map { String(decoding: $0.content, as: UTF8.self) } }
}

/// What a parser was seen to need.
package struct ParserCost: Sendable {
    /// The most bytes that were kept between two chunks.
    package var retained = 0
    /// The bytes that were looked at.
    package var work = 0
    package var events = 0
}

/// A multipart body's parser, as tests drive it.
package struct ParserRun: Sendable {
    package var contentType: MultipartContentType
    package var limits: ParserLimits
    package var policies: ParserPolicies
    /// Whether contents are kept, or their lengths and checksums only.
    package var keepsContents = true

    package init(
        _ boundary: String = "b",
        _ subtype: MultipartForm.Subtype = .formData,
        limits: ParserLimits = ParserLimits(fileBytes: .max, totalBytes: .max),
        policies: ParserPolicies? = nil
    ) throws {
        contentType = MultipartContentType(subtype: subtype, boundary: try Boundary(boundary))
        self.limits = limits
        self.policies = policies ?? ParserPolicies(for: subtype)
    }

    init(_ fuzzed: FuzzedParser) {
        contentType = fuzzed.contentType
        limits = fuzzed.limits
        policies = fuzzed.policies
    }

    /// Parses chunks, each in memory of exactly its size.
    package func parse(_ chunks: some Sequence<ArraySlice<UInt8>>) -> ParserLog {
        parseCounting(chunks).log
    }

    /// Parses the bytes as one chunk.
    package func parse(_ bytes: [UInt8]) -> ParserLog { parse([bytes[...]]) }

    package func parse(_ text: String) -> ParserLog { parse(Array(text.utf8)) }

    /// Parses chunks and counts what it takes.
    package func parseCounting(_ chunks: some Sequence<ArraySlice<UInt8>>) -> (log: ParserLog, cost: ParserCost) {
        var parser = MultipartParser(contentType, limits: limits, policies: policies)
        var log = ParserLog()
        var cost = ParserCost()
        do {
            for chunk in chunks {
                // Memory of just the chunk's size, so that the address sanitizer sees a byte read behind it.
                let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: chunk.count, alignment: 1)
                defer { unsafe memory.deallocate() }
                unsafe memory.copyBytes(from: chunk)
                while let event = try parser.next(in: unsafe UnsafeRawBufferPointer(memory).bytes) {
                    cost.events += 1
                    take(event, chunk, parser.heldBytes, &log)
                }
                cost.retained = max(cost.retained, parser.retainedBytes)
            }
            while let event = try parser.finish() { take(event, [], parser.heldBytes, &log) }
            log.endOffset = parser.byteOffset
        } catch {
            log.code = error.code
            log.errorOffset = error.byteOffset
            log.failure = "\(error.code) at \(error.byteOffset.map(String.init) ?? "?"): \(error)"
        }
        cost.work = parser.work
        return (log, cost)
    }

    private func take(
        _ event: MultipartParser.Event,
        _ chunk: ArraySlice<UInt8>,
        _ held: ContiguousArray<UInt8>,
        _ log: inout ParserLog
    ) {
        switch event {
        case .partBegan(let headers):
            log.parts.append(
                ParserLog.Part(
                    headers: headers.fields,
                    name: headers.name,
                    filename: headers.filename,
                    contentOffset: headers.contentOffset
                )
            )
        case .body(let range):
            let start = chunk.startIndex + range.lowerBound
            if keepsContents { log.parts[log.parts.count - 1].content += chunk[start..<start + range.count] }
        case .heldBody(let range):
            if keepsContents { log.parts[log.parts.count - 1].content += held[range] }
        case .partEnded:
            log.parts[log.parts.count - 1].isEnded = true
        case .end:
            log.hasEnd = true
        }
    }
}

extension ParserRun {
    /// Parses the bytes whole and cut in every way of ``Split/all(_:needle:seed:)``.
    ///
    /// - Returns: What came of it, and the first way of cutting that gave something else; nil where none did.
    package func parseInAllSplits(_ bytes: [UInt8], seed: UInt64 = 1) -> (log: ParserLog, difference: String?) {
        let whole = parse(bytes)
        let needle = contentType.boundary.description.utf8.count + 4
        for (name, chunks) in Split.all(bytes, needle: needle, seed: seed) {
            let other = parse(chunks)
            if other != whole { return (whole, "\(name): \(other) and not \(whole)") }
        }
        return (whole, nil)
    }
}

/// Ways of cutting bytes into chunks.
package enum Split {
    /// One byte each, in two at each place, all sizes up to some more than a delimiter, about the sizes of usual
    /// buffers, and random ones with empty chunks between them; for long bodies, fewer of each.
    package static func all(
        _ bytes: [UInt8],
        needle: Int,
        seed: UInt64
    ) -> some Sequence<(name: String, chunks: [ArraySlice<UInt8>])> {
        var random = SeededGenerator(seed: seed)
        let isLong = bytes.count > 2000
        let sizes = isLong ? [1, 2, 7, needle - 1, needle, needle + 1] : Array(1...needle + 70)
        let common = [4095, 4096, 4097, 16383, 16384, 16385].filter { $0 < bytes.count }
        let places = isLong ? [] : Array(0...bytes.count)
        return (sizes + common).lazy.map { ("chunks of \($0)", every($0, bytes)) }
            + places.map { ("cut at \($0)", [bytes[..<$0], bytes[$0...]]) }
            + (0..<(isLong ? 3 : 20)).map { ("random \($0) of seed \(seed)", atRandom(bytes, &random)) }
    }

    /// Chunks of one size.
    package static func every(_ size: Int, _ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        stride(from: 0, to: bytes.count, by: size).map { bytes[$0..<min($0 + size, bytes.count)] }
    }

    /// Two chunks, at each place.
    package static func inTwo(_ bytes: [UInt8]) -> [[ArraySlice<UInt8>]] {
        (0...bytes.count).map { [bytes[..<$0], bytes[$0...]] }
    }

    /// Chunks of random sizes, with empty ones between them.
    package static func atRandom(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [ArraySlice<UInt8>] {
        let longest = [1, 3, 20, 100, 5000].randomElement(using: &random) ?? 1
        var chunks: [ArraySlice<UInt8>] = []
        var start = 0
        while start < bytes.count {
            let size = Int.random(in: 0...longest, using: &random)
            chunks.append(bytes[start..<min(start + size, bytes.count)])
            start += size
        }
        return chunks
    }
}

extension MultipartParser {
    /// The next event of a slice's bytes.
    package mutating func next(_ chunk: ArraySlice<UInt8>) throws(MultipartError) -> Event? {
        try next(in: unsafe chunk.span.bytes)
    }
}
