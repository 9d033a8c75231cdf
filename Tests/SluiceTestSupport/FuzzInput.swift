internal import Sluice

/// Bytes of a fuzzer's, and what must hold for whatever they are.
///
/// The first byte chooses what they are given to, the second one how, and the rest is what is given.
package struct FuzzInput: Sendable {
    private let kind: UInt8
    private let options: UInt8
    private let bytes: [UInt8]

    package init(_ input: [UInt8]) {
        kind = input.first ?? 0
        options = input.dropFirst().first ?? 0
        bytes = Array(input.dropFirst(2))
    }

    /// What does not hold; nil where all does.
    package func finding() -> String? {
        switch kind & 7 {
        case 0...3: body()
        case 4: disposition()
        case 5: contentType()
        case 6: gunzip()
        default: filename()
        }
    }

    // MARK: Bodies

    /// The same events, error and offset for every way of cutting the body, in linear work and little memory.
    private func body() -> String? {
        guard
            var run = try? ParserRun(
                options & 1 == 0 ? "b" : "boundary-0123456789",
                options & 2 == 0 ? .formData : .mixed
            )
        else { return "there is no parser" }
        run.policies.delimiterSuffix = options & 4 == 0 ? .reject : .data
        run.policies.lineEnds = options & 8 == 0 ? .crlf : .lenient
        run.policies.folding = options & 16 == 0 ? .reject : .unfold
        run.policies.nameDecoding = options & 32 == 0 ? .compatible : .percent
        run.policies.extendedFilename = options & 64 == 0 ? .ignore : .prefer
        if options & 128 != 0 {
            run.limits = ParserLimits(fileBytes: 20, totalBytes: 400)
            run.limits.fieldBytes = 10
            run.limits.totalFieldBytes = 15
            run.limits.partHeaderBytes = 100
            run.limits.totalHeaderBytes = 180
            run.limits.partHeaderCount = 3
            run.limits.partCount = 3
            run.limits.paddingBytes = 2
            run.limits.preambleBytes = 5
        }
        let (whole, cost) = run.parseCounting([bytes[...]])
        if cost.work > bytes.count * 4 + 100 { return "\(cost.work) steps for \(bytes.count) bytes" }
        if let problem = Self.problem(whole, bytes) { return problem }
        var random = SeededGenerator(seed: UInt64(bytes.count) &* 31 &+ UInt64(kind))
        for chunks in [Split.every(1, bytes), Split.atRandom(bytes, &random), Split.atRandom(bytes, &random)] {
            let (log, cost) = run.parseCounting(chunks)
            if log != whole { return "\(chunks.map(\.count)): \(log) and not \(whole)" }
            if cost.retained > run.limits.partHeaderBytes + 400 { return "\(cost.retained) bytes are kept" }
            if cost.work > bytes.count * 5 + 100 { return "\(cost.work) steps for \(bytes.count) bytes" }
        }
        return nil
    }

    private static func problem(_ log: ParserLog, _ bytes: [UInt8]) -> String? {
        let count = bytes.count
        if log.hasEnd == (log.failure != nil) { return "it ends and fails, or does neither" }
        if log.failure != nil, log.errorOffset.map({ (0...Int64(count)).contains($0) }) != true {
            return "the error's offset is \(String(describing: log.errorOffset))"
        }
        if log.parts.dropLast().contains(where: { !$0.isEnded }) { return "a part begins in another one" }
        if log.endOffset > count { return "the end is behind the end" }
        // Whatever it looks like, a content is one run of the body's bytes.
        for part in log.parts where !bytes.dropFirst(Int(part.contentOffset)).starts(with: part.content) {
            return "\(part) is not what the body has there"
        }
        return nil
    }

    // MARK: Others

    /// A disposition's name is the same alone and in a body, and what is not refused is read once.
    private func disposition() -> String? {
        let line = bytes.filter { $0 != 0x0A && $0 != 0x0D }
        let body = Array("--b\r\nContent-Disposition: ".utf8) + line + Array("\r\n\r\n\r\n--b--".utf8)
        guard var run = try? ParserRun("b", .mixed) else { return "there is no parser" }
        run.policies.nameDecoding = options & 1 == 0 ? .compatible : .backslash
        run.policies.extendedFilename = options & 2 == 0 ? .ignore : .prefer
        let (log, difference) = run.parseInAllSplits(body.count > 200 ? Array(body.prefix(0)) : body)
        if let difference { return difference }
        return Self.problem(log, body)
    }

    /// A boundary that is read is one, and is read again from what the encoder writes.
    private func contentType() -> String? {
        guard let type = try? MultipartContentType(String(decoding: bytes, as: UTF8.self)) else { return nil }
        let written = MultipartForm(subtype: type.subtype, boundary: type.boundary).contentType
        guard let again = try? MultipartContentType(written), again == type else { return "\(written) is not \(type)" }
        return nil
    }

    /// The same content or an error for every way of cutting it, within its limits.
    private func gunzip() -> String? {
        var limits = GunzipLimits(bytes: 100_000)
        limits.ratio = 1032
        var random = SeededGenerator(seed: UInt64(bytes.count))
        let whole = Self.gunzip([bytes[...]], limits)
        if let whole, whole.count > 100_000 { return "\(whole.count) bytes" }
        for chunks in [Split.every(1, bytes), Split.atRandom(bytes, &random)] where Self.gunzip(chunks, limits) != whole
        {
            return "another content in \(chunks.map(\.count))"
        }
        return nil
    }

    private static func gunzip(_ chunks: [ArraySlice<UInt8>], _ limits: GunzipLimits) -> [UInt8]? {
        var state = GunzipState(limits)
        var content: [UInt8] = []
        do {
            for chunk in chunks {
                state.feed(HeldBytes(chunk))
                while let bytes = try state.next() { content += bytes }
            }
            try state.finish()
            return content
        } catch {
            return nil
        }
    }

    /// A sanitized name is one component that stays as it is.
    private func filename() -> String? {
        let name = PartHeaders.sanitized(bytes)
        if name.isEmpty || name.utf8.count > 255 { return "\(name.utf8.count) bytes" }
        if name.contains("/") || name.contains("\\") || name.contains("\0") || name.hasPrefix(".") { return name }
        let again = PartHeaders.sanitized(Array(name.utf8))
        return again == name ? nil : "\(name) and then \(again)"
    }
}
