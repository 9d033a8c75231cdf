/// Where in a part's headers the values of its Content-Disposition are (RFC 2183 section 2, RFC 7578 section 4.2).
struct PartDisposition: Sendable {
    /// A parameter's value; of a quoted one, what is between the quotes.
    struct Value: Sendable {
        let range: Range<Int>
        let isQuoted: Bool
    }

    let kind: Range<Int>
    private(set) var name: Value?
    private(set) var filename: Value?
    /// The parameter `filename*`.
    private(set) var extendedFilename: Value?

    /// Reads the whole value from left to right.
    ///
    /// - Parameters:
    ///   - bytes: Where the value is.
    ///   - range: The value.
    ///   - decoding: Whether a backslash can keep a quotation mark from ending a value.
    ///   - limit: The most parameters.
    /// - Throws: What is malformed, too much, or occurs twice, and where.
    init(
        _ bytes: ContiguousArray<UInt8>,
        _ range: Range<Int>,
        _ decoding: ParserPolicies.NameDecoding,
        limit: Int
    ) throws(ParameterScanner.Problem) {
        var scanner = ParameterScanner(bytes, range, decoding.backslash, limit: limit)
        guard let kind = scanner.token() else {
            throw ParameterScanner.Problem(offset: range.lowerBound, reason: "the disposition type is not a token")
        }
        self.kind = kind
        var others: [Range<Int>] = []
        while let parameter = try scanner.next() {
            let value = Value(range: parameter.value, isQuoted: parameter.isQuoted)
            let isFirst: Bool
            if bytes.isText("name", at: parameter.name) {
                isFirst = name == nil
                name = value
            } else if bytes.isText("filename", at: parameter.name) {
                isFirst = filename == nil
                filename = value
            } else if bytes.isText("filename*", at: parameter.name) {
                isFirst = extendedFilename == nil
                extendedFilename = value
            } else {
                // As many as the limit allows, so that this is no more than the limit's square.
                isFirst = !others.contains { bytes.isSameText($0, parameter.name) }
                others.append(parameter.name)
            }
            guard isFirst else {
                throw ParameterScanner.Problem(offset: parameter.name.lowerBound, reason: "a parameter occurs twice")
            }
        }
    }
}

extension ContiguousArray<UInt8> {
    /// Whether two runs of ASCII are the same but for case.
    fileprivate func isSameText(_ first: Range<Int>, _ second: Range<Int>) -> Bool {
        self[first].elementsEqual(self[second]) { first, second in
            first == second || (first | 0x20 == second | 0x20 && (0x61...0x7A).contains(first | 0x20))
        }
    }
}
