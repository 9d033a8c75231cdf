extension MultipartParser {
    /// Goes on in the chunk to the next event.
    ///
    /// - Parameter bytes: The chunk.
    /// - Returns: The event; nil where the chunk is used up.
    /// - Throws: What is wrong with the body.
    mutating func step(_ bytes: Span<UInt8>) throws(MultipartError) -> Event? {
        if due != nil, let due { throw due }
        if state == .ended { return nil }
        // Beyond the limit, the chunk ends early: so the error comes at the same byte, however the bytes are cut.
        let end = Int(min(Int64(bytes.count), left(of: limits.totalBytes, origin)))
        while true {
            let before = state
            if let event = try step(bytes, end) { return event }
            if state == before || state == .ended { break }
        }
        if end < bytes.count, state != .ended {
            throw MultipartError(
                .bodyTooLarge,
                "the body has more than \(limits.totalBytes) bytes",
                byteOffset: limits.totalBytes
            )
        }
        return nil
    }

    /// - Returns: An event; nil where the state changed or the chunk is used up.
    private mutating func step(_ bytes: Span<UInt8>, _ end: Int) throws(MultipartError) -> Event? {
        switch state {
        case .start: try readStart(bytes, end)
        case .preamble, .content: return try readContent(bytes, end)
        case .suffix: return try readSuffix(bytes, end)
        case .headers: return try readHeaders(bytes, end)
        case .closing:
            state = .ended
            return .end
        case .ended: break
        }
        return nil
    }

    // MARK: Before the first delimiter

    /// Reads the first delimiter, which an empty line may stand before, byte for byte.
    private mutating func readStart(_ bytes: Span<UInt8>, _ end: Int) throws(MultipartError) {
        guard case .start(var matched) = state else { return }
        while cursor < end {
            let byte = bytes[cursor]
            let expected: Int
            if let matched {
                expected = matched
            } else if byte == 0x0D {
                expected = 0
            } else {
                expected = byte == 0x0A && policies.lineEnds == .lenient ? 1 : 2
            }
            guard byte == scanner.delimiter[expected] else {
                throw MultipartError(
                    .unexpectedPreamble,
                    "the body does not begin with its delimiter, which is -- and the boundary; check the boundary",
                    byteOffset: origin + Int64(cursor)
                )
            }
            cursor += 1
            matched = expected + 1
            if matched == scanner.delimiter.count {
                beginSuffix()
                return
            }
        }
        state = .start(matched: matched)
    }

    // MARK: Content

    private mutating func readContent(_ bytes: Span<UInt8>, _ end: Int) throws(MultipartError) -> Event? {
        while let piece = scanner.next(in: bytes, from: &cursor, to: end) {
            switch piece {
            case .body(let range):
                let start = origin + Int64(range.lowerBound)
                if let count = try accept(range.count, at: start) {
                    return .body(range.lowerBound..<range.lowerBound + count)
                }
            case .held(let range):
                let start = origin + Int64(cursor) - Int64(range.count)
                if let count = try accept(range.count, at: start) {
                    return .heldBody(range.lowerBound..<range.lowerBound + count)
                }
            case .delimiter:
                beginSuffix()
                return nil
            }
        }
        return nil
    }

    /// Counts bytes of content, or of the preamble.
    ///
    /// - Returns: How many of them are content that the limits allow; where those are not all, an error is due behind them.
    private mutating func accept(_ count: Int, at offset: Int64) throws(MultipartError) -> Int? {
        guard part != nil else {
            let allowed = left(of: limits.preambleBytes, preambleBytes)
            preambleBytes += Int64(count)
            if Int64(count) <= allowed { return nil }
            throw MultipartError(
                .preambleTooLong,
                "more than \(limits.preambleBytes) bytes come before the first delimiter",
                byteOffset: offset + allowed
            )
        }
        let inPart = left(of: partLimit, contentBytes)
        let allowed = isField ? min(inPart, left(of: limits.totalFieldBytes, usage.fieldBytes)) : inPart
        let accepted = Int(min(Int64(count), allowed))
        contentBytes += Int64(accepted)
        if isField { usage.fieldBytes += Int64(accepted) }
        if accepted == count { return count }
        let error = tooLarge(isPartLimit: allowed == inPart, at: offset + Int64(accepted))
        guard accepted > 0 else { throw error }
        due = error
        return accepted
    }

    /// What is left of a limit, however strange a number it is.
    private func left(of limit: Int64, _ used: Int64) -> Int64 {
        limit > used ? limit - used : 0
    }

    private func tooLarge(isPartLimit: Bool, at offset: Int64) -> MultipartError {
        switch (isField, isPartLimit) {
        case (false, _):
            MultipartError(.fileTooLarge, "the file has more than \(limits.fileBytes) bytes", byteOffset: offset)
        case (true, true):
            MultipartError(.fieldTooLarge, "the field has more than \(limits.fieldBytes) bytes", byteOffset: offset)
        case (true, false):
            MultipartError(
                .totalFieldsTooLarge,
                "the fields have more than \(limits.totalFieldBytes) bytes together",
                byteOffset: offset
            )
        }
    }

    // MARK: Delimiters

    private mutating func beginSuffix() {
        // Only where it may turn out to be content.
        suffix.begin(policies.delimiterSuffix == .data ? scanner.delimiter : [])
        state = .suffix
    }

    private mutating func readSuffix(_ bytes: Span<UInt8>, _ end: Int) throws(MultipartError) -> Event? {
        let outcome = suffix.next(
            in: bytes,
            from: &cursor,
            to: end,
            lineEnds: policies.lineEnds,
            mostPadding: limits.paddingBytes
        )
        switch outcome {
        case nil:
            return nil
        case .delimiter:
            return endPart(then: .headers)
        case .close:
            endOffset = origin + Int64(cursor)
            return endPart(then: .closing)
        case .mismatch, .tooMuchPadding:
            if policies.delimiterSuffix == .data, part != nil || policies.preamble == .skip {
                return try goOnAfterSuffix()
            }
            let offset = origin + Int64(cursor)
            if outcome == .tooMuchPadding {
                throw MultipartError(
                    .paddingTooLong,
                    "more than \(limits.paddingBytes) spaces and tabs follow a delimiter",
                    byteOffset: offset
                )
            }
            throw MultipartError(
                .invalidDelimiter,
                "a delimiter's line goes on behind the boundary",
                byteOffset: offset
            )
        }
    }

    /// Gives as content what looked like a delimiter.
    private mutating func goOnAfterSuffix() throws(MultipartError) -> Event? {
        state = part == nil ? .preamble : .content
        let from = scanner.foundFrom
        let count = suffix.held.count - from
        guard let accepted = try accept(count, at: origin + Int64(cursor) - Int64(count)) else { return nil }
        return .heldBody(from..<from + accepted)
    }

    // MARK: Headers

    private mutating func readHeaders(_ bytes: Span<UInt8>, _ end: Int) throws(MultipartError) -> Event? {
        let start: Int64
        if let headersOffset {
            start = headersOffset
        } else {
            guard usage.parts < limits.partCount else {
                throw MultipartError(
                    .tooManyParts,
                    "the body has more than \(limits.partCount) parts",
                    byteOffset: origin + Int64(cursor)
                )
            }
            usage.parts += 1
            partsBegun += 1
            start = origin + Int64(cursor)
            headersOffset = start
        }
        let left = Int(left(of: Int64(limits.totalHeaderBytes), Int64(usage.headerBytes)))
        let rules = HeaderBlock.Rules(
            lineEnds: policies.lineEnds,
            mostLines: limits.partHeaderCount,
            mostBytes: max(min(limits.partHeaderBytes, left), 0),
            code: limits.partHeaderBytes <= left ? .partHeadersTooLarge : .totalHeadersTooLarge,
            mostTotalBytes: limits.totalHeaderBytes
        )
        // Whoever took the last headers has mostly let go of them: then these are kept in their memory.
        let storage = lastPart.take()?.reusable() ?? PartHeaders.Storage()
        var lines = storage.takeBytes()
        guard try block.next(in: bytes, from: &cursor, to: end, origin: origin, rules, into: &lines) else {
            storage.bytes = lines
            lastPart = PartHeaders(storage)
            return nil
        }
        let contentOffset = origin + Int64(cursor)
        usage.headerBytes += Int(contentOffset - start)
        let headers = try PartHeaders(
            lines,
            in: storage,
            at: start,
            index: partsBegun - 1,
            contentOffset: contentOffset,
            policies,
            parameterLimit: limits.parameterCount
        )
        part = headers
        isField = policies.requiresFormData && !headers.isFile
        partLimit = isField ? limits.fieldBytes : limits.fileBytes
        contentBytes = 0
        headersOffset = nil
        state = .content
        // An empty content may leave out its line break: the delimiter then follows the headers at once.
        scanner.beginLine()
        return .partBegan(headers)
    }
}
