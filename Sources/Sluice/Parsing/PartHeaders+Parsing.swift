extension PartHeaders {
    /// Checks header lines.
    ///
    /// - Parameters:
    ///   - lines: The lines with their ends, each of which ends in LF.
    ///   - storage: Where they are to be kept.
    ///   - offset: The offset in the body of the first line.
    ///   - index: The part's place.
    ///   - contentOffset: The offset in the body of the content.
    ///   - policies: How to take them.
    ///   - parameterLimit: The most parameters of a Content-Disposition.
    /// - Throws: What is malformed, occurs twice or is missing, and where.
    init(
        _ lines: consuming ContiguousArray<UInt8>,
        in storage: Storage,
        at offset: Int64,
        index: Int,
        contentOffset: Int64,
        _ policies: ParserPolicies,
        parameterLimit: Int
    ) throws(MultipartError) {
        func problem(_ code: MultipartError.Code, _ reason: String, at place: Int) -> MultipartError {
            MultipartError(code, reason, byteOffset: offset + Int64(place))
        }
        if policies.folding == .unfold { Self.unfold(&lines) }
        let lines = lines
        var dispositionPlace: Place?
        var contentTypePlace: Place?
        var start = 0
        while start < lines.count {
            guard let line = HeaderLine(lines, start) else {
                throw problem(.invalidHeader, Self.whatIsWrong(lines, start), at: start)
            }
            if let stray = line.stray {
                throw problem(.invalidHeader, "a header has a CR or NUL in it", at: stray)
            }
            switch line.field {
            case .disposition:
                guard dispositionPlace == nil else {
                    throw problem(.invalidHeader, "the part has a second Content-Disposition", at: start)
                }
                dispositionPlace = line.value
            case .contentType:
                guard contentTypePlace == nil else {
                    throw problem(.invalidHeader, "the part has a second Content-Type", at: start)
                }
                contentTypePlace = line.value
            case .other:
                break
            }
            start = line.end
        }
        let disposition: PartDisposition?
        do throws(ParameterScanner.Problem) {
            disposition = try dispositionPlace.map { (place) throws(ParameterScanner.Problem) in
                try PartDisposition(lines, place, policies.nameDecoding, limit: parameterLimit)
            }
        } catch {
            throw problem(
                error.code,
                "in the Content-Disposition \(error.reason)",
                at: error.offset
            )
        }
        if policies.requiresFormData {
            guard let disposition, lines.isText("form-data", at: disposition.kind), disposition.name != nil else {
                throw problem(
                    .missingName,
                    "the part has no Content-Disposition of the type form-data with a name (RFC 7578 section 4.2)",
                    at: 0
                )
            }
        }
        storage.bytes = lines
        storage.disposition = disposition
        storage.contentType = contentTypePlace
        storage.policies = policies
        storage.index = index
        storage.contentOffset = contentOffset
        self.init(storage)
    }

    /// Reads each line break before a space or tab as spaces, in place.
    private static func unfold(_ lines: inout ContiguousArray<UInt8>) {
        for feed in lines.indices.dropFirst().dropLast() where lines[feed] == 0x0A {
            guard lines[feed + 1] == 0x20 || lines[feed + 1] == 0x09 else { continue }
            lines[feed] = 0x20
            if lines[feed - 1] == 0x0D { lines[feed - 1] = 0x20 }
        }
    }

    private static func whatIsWrong(_ lines: ContiguousArray<UInt8>, _ start: Int) -> String {
        if lines[start] == 0x20 || lines[start] == 0x09 {
            return "a header line begins with white space; folded headers are refused unless the policy unfolds them"
        }
        return "a header line is not a token and a colon"
    }
}
