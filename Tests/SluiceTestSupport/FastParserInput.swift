internal import Sluice

/// A body that a fuzzer made, parsed whole and cut in two at a place that the fuzzer chose.
///
/// What is checked costs little beside the parser itself: ranges lie in what they are ranges of, events come in their
/// order, content is the body's own bytes, the parser stops, and both ways give the same parts, the same content and the same error.
package enum FastParserInput {
    /// What a run came to, in a few words that are quick to compare.
    private struct Outcome: Equatable {
        var parts = 0
        var headers = 0
        var contentBytes = 0
        /// The content's bytes and the parts' ends, in their order.
        var checksum: UInt64 = 0
        var hasEnd = false
        var endOffset: Int64 = 0
        var code: MultipartError.Code?
        var errorOffset: Int64?

        mutating func add(_ byte: UInt8) { checksum = checksum &* 0x100_0000_01B3 ^ UInt64(byte) }
    }

    /// One run of a parser.
    private struct Run: ~Copyable {
        var parser: MultipartParser
        var outcome = Outcome()
        var finding: String?
        private var isOpen = false
        /// Where in the body the next byte of the content is.
        private var offset = 0
        private var events = 0

        init(_ fuzzed: FuzzedParser) {
            parser = MultipartParser(fuzzed.contentType, limits: fuzzed.limits, policies: fuzzed.policies)
        }

        mutating func feed(_ chunk: Span<UInt8>, of body: Span<UInt8>) {
            guard finding == nil, outcome.code == nil else { return }
            do throws(MultipartError) {
                while let event = try parser.next(in: unsafe chunk.bytes) {
                    take(event, chunk, body)
                    if finding != nil { return }
                }
            } catch {
                outcome.code = error.code
                outcome.errorOffset = error.byteOffset
            }
        }

        mutating func finish(_ body: Span<UInt8>) {
            guard finding == nil, outcome.code == nil else { return }
            do throws(MultipartError) {
                while let event = try parser.finish() {
                    take(event, Span(), body)
                    if finding != nil { return }
                }
                outcome.endOffset = parser.byteOffset
                if !outcome.hasEnd { finding = "it does not end, and does not fail" }
                if outcome.endOffset > body.count { finding = "the end is behind the end" }
            } catch {
                outcome.code = error.code
                outcome.errorOffset = error.byteOffset
            }
            if outcome.code != nil, outcome.errorOffset.map({ (0...Int64(body.count)).contains($0) }) != true {
                finding = "the error's offset is \(String(describing: outcome.errorOffset))"
            }
            if parser.work > body.count * 5 + 100 { finding = "\(parser.work) steps for \(body.count) bytes" }
        }

        private mutating func take(_ event: MultipartParser.Event, _ chunk: Span<UInt8>, _ body: Span<UInt8>) {
            events += 1
            if outcome.hasEnd { finding = "an event behind the end" }
            switch event {
            case .partBegan(let headers):
                if isOpen { finding = "a part begins in another one" }
                isOpen = true
                offset = Int(headers.contentOffset)
                outcome.parts += 1
                outcome.headers += headers.fields.count
                if headers.index != outcome.parts - 1 {
                    finding = "part \(outcome.parts - 1) is called \(headers.index)"
                }
                for byte in headers.nameBytes ?? [] { outcome.add(byte) }
                for byte in headers.filenameBytes ?? [] { outcome.add(byte) }
            case .body(let range):
                guard isOpen, !range.isEmpty, range.lowerBound >= 0, range.upperBound <= chunk.count else {
                    finding = "\(range) of a chunk of \(chunk.count), in a part: \(isOpen)"
                    return
                }
                outcome.contentBytes += range.count
                for index in range { add(chunk[index], body) }
            case .heldBody(let range):
                let held = parser.heldBytes
                guard isOpen, !range.isEmpty, range.lowerBound >= 0, range.upperBound <= held.count else {
                    finding = "\(range) of \(held.count) held bytes, in a part: \(isOpen)"
                    return
                }
                outcome.contentBytes += range.count
                for index in range { add(held[index], body) }
            case .partEnded:
                if !isOpen { finding = "a part ends that has not begun" }
                isOpen = false
                outcome.checksum = outcome.checksum &* 3 &+ 1
            case .end:
                if isOpen { finding = "the body ends in a part" }
                outcome.hasEnd = true
            }
        }

        /// Adds a byte of content, which is the next one of the body's.
        private mutating func add(_ byte: UInt8, _ body: Span<UInt8>) {
            if offset >= body.count || body[offset] != byte { finding = "the content at \(offset) is not the body's" }
            offset += 1
            outcome.add(byte)
        }

        /// More events than there can be for so many bytes are an endless loop.
        func checkEvents(_ count: Int) -> String? {
            events > count + 4 ? "\(events) events for \(count) bytes" : nil
        }
    }

    /// Parses an input: a byte for ``FuzzedParser``, a byte for the place of the cut, and the body.
    ///
    /// - Parameter input: The input.
    /// - Returns: What does not hold; nil where all does.
    package static func finding(_ input: Span<UInt8>) -> String? {
        guard input.count > 1 else { return nil }
        let fuzzed = FuzzedParser(input[0])
        let body = input.extracting(droppingFirst: 2)
        let cut = Int(input[1]) % (body.count + 1)
        var whole = Run(fuzzed)
        whole.feed(body, of: body)
        whole.finish(body)
        if let finding = whole.finding ?? whole.checkEvents(body.count) { return "whole: \(finding)" }
        var halves = Run(fuzzed)
        halves.feed(body.extracting(first: cut), of: body)
        halves.feed(body.extracting(droppingFirst: cut), of: body)
        halves.finish(body)
        if let finding = halves.finding ?? halves.checkEvents(body.count) { return "cut at \(cut): \(finding)" }
        return whole.outcome == halves.outcome ? nil : "cut at \(cut): \(halves.outcome) and not \(whole.outcome)"
    }
}
