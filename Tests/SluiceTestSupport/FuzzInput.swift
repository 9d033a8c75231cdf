internal import Sluice

/// Bytes of a fuzzer's, and what must hold for whatever they are.
struct FuzzInput {
    private let target: FuzzTarget
    private let options: UInt8
    private let bytes: [UInt8]

    init(_ target: FuzzTarget, _ input: [UInt8]) {
        self.target = target
        options = input.first ?? 0
        bytes = Array(input.dropFirst())
    }

    /// What does not hold; nil where all does.
    func finding() -> String? {
        switch target {
        case .body, .parser: body()
        case .headers: headers()
        case .disposition: disposition()
        case .contentType: contentType()
        case .gunzip: gunzip()
        case .filename: filename()
        }
    }

    // MARK: Bodies

    /// The same events, error and offset for every way of cutting the body, in linear work and little memory.
    private func body() -> String? {
        let run = ParserRun(FuzzedParser(options))
        let (whole, cost) = run.parseCounting([bytes[...]])
        if cost.work > bytes.count * 4 + 100 { return "\(cost.work) steps for \(bytes.count) bytes" }
        if let problem = Self.problem(whole, bytes) { return problem }
        for chunks in Self.splits(bytes) {
            let (log, cost) = run.parseCounting(chunks)
            if log != whole { return "\(chunks.map(\.count)): \(log) and not \(whole)" }
            if cost.retained > run.limits.partHeaderBytes + 400 { return "\(cost.retained) bytes are kept" }
            if cost.work > bytes.count * 5 + 100 { return "\(cost.work) steps for \(bytes.count) bytes" }
        }
        return nil
    }

    /// One byte at a time, and two ways that the bytes themselves choose.
    private static func splits(_ bytes: [UInt8]) -> [[ArraySlice<UInt8>]] {
        var random = SeededGenerator(seed: bytes.reduce(0) { $0 &* 31 &+ UInt64($1) })
        return [Split.every(1, bytes), Split.atRandom(bytes, &random), Split.atRandom(bytes, &random)]
    }

    /// Parses a body whole, and sees to it that it is the same in pieces.
    private static func parseInPieces(_ run: ParserRun, _ body: [UInt8]) -> (log: ParserLog, finding: String?) {
        let log = run.parse(body)
        for chunks in splits(body) {
            let other = run.parse(chunks)
            if other != log { return (log, "\(chunks.map(\.count)): \(other) and not \(log)") }
        }
        return (log, problem(log, body))
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

    /// Header lines that are read are tokens and values without line ends, and are read again from what they came to.
    private func headers() -> String? {
        var fuzzed = FuzzedParser(options)
        fuzzed.policies.requiresFormData = false
        let run = ParserRun(fuzzed)
        let delimiter = Array("--\(run.contentType.boundary)".utf8)
        func body(_ lines: some Sequence<UInt8>) -> [UInt8] {
            delimiter + [0x0D, 0x0A] + lines + Array("\r\n\r\n\r\n".utf8) + delimiter + Array("--".utf8)
        }
        let (log, finding) = Self.parseInPieces(run, body(bytes))
        if let finding { return finding }
        guard log.failure == nil else { return nil }
        for field in log.parts.flatMap(\.headers) {
            if field.name.isEmpty || !field.name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x3A }) {
                return "the name \(field.name.debugDescription)"
            }
            if field.value.utf8.contains(where: { $0 == 0 || $0 == 0x0A || $0 == 0x0D }) {
                return "the value \(field.value.debugDescription)"
            }
        }
        guard options & 128 == 0, log.parts.count == 1, let fields = log.parts.first?.headers else { return nil }
        let again = run.parse(body(Array(fields.map { "\($0.name): \($0.value)" }.joined(separator: "\r\n").utf8)))
        return again.parts.first?.headers == fields ? nil : "\(fields) and then \(again)"
    }

    /// A disposition's name is the same alone and in a body, and what is not refused is read once.
    private func disposition() -> String? {
        let line = bytes.filter { $0 != 0x0A && $0 != 0x0D }
        let body = Array("--b\r\nContent-Disposition: ".utf8) + line + Array("\r\n\r\n\r\n--b--".utf8)
        guard var run = try? ParserRun("b", .mixed) else { return "there is no parser" }
        run.policies.nameDecoding = options & 1 == 0 ? .compatible : .backslash
        run.policies.extendedFilename = options & 2 == 0 ? .ignore : .prefer
        return Self.parseInPieces(run, body).finding
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
        limits.ratio = options & 1 == 0 ? 1032 : 10
        let whole = Self.gunzip([bytes[...]], limits)
        let most = min(limits.bytes, Int64(bytes.count) * limits.ratio + 64 << 10)
        if let whole, whole.count > most { return "\(whole.count) bytes of \(bytes.count)" }
        for chunks in Self.splits(bytes) where Self.gunzip(chunks, limits) != whole {
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
