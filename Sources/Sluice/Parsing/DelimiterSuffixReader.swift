/// Reads what follows a delimiter's boundary: two hyphens at the body's end, padding, and the line's end.
struct DelimiterSuffixReader: Sendable {
    /// What the delimiter turned out to be.
    enum Outcome {
        /// A part follows.
        case delimiter
        /// The body's end.
        case close
        /// No delimiter: the byte at the cursor does not belong there.
        case mismatch
        /// More padding than is allowed.
        case tooMuchPadding
    }

    private enum Phase {
        case boundary
        case hyphen
        case padding
        case lineBreak
        case close
        case closeLineBreak
    }

    private var phase = Phase.boundary
    private var padding = 0
    /// The delimiter with what was read behind it, where that may turn out to be content.
    private(set) var held = ContiguousArray<UInt8>()

    /// Whether the body may end here: behind the two hyphens.
    var isClose: Bool { phase == .close || phase == .closeLineBreak }

    /// Begins anew, behind another boundary.
    ///
    /// - Parameter delimiter: The delimiter, where what follows it has to be kept; else nothing.
    mutating func begin(_ delimiter: ContiguousArray<UInt8>) {
        phase = .boundary
        padding = 0
        // Where such delimiters are many, none of them costs an allocation; and mostly there is nothing to do.
        if !held.isEmpty { held.removeAll(keepingCapacity: true) }
        if !delimiter.isEmpty { held.append(contentsOf: delimiter) }
    }

    /// Goes on.
    ///
    /// - Returns: The outcome, with the cursor behind the line's end or at the byte that does not fit; nil where the chunk
    ///   ends first.
    mutating func next(
        in bytes: Span<UInt8>,
        from cursor: inout Int,
        to end: Int,
        lineEnds: ParserPolicies.LineEnds,
        mostPadding: Int
    ) -> Outcome? {
        while cursor < end {
            let byte = bytes[cursor]
            switch (phase, byte) {
            case (.boundary, UInt8(ascii: "-")):
                phase = .hyphen
            case (.hyphen, UInt8(ascii: "-")):
                phase = .close
            case (.boundary, 0x20), (.boundary, 0x09), (.padding, 0x20), (.padding, 0x09), (.close, 0x20),
                (.close, 0x09):
                padding += 1
                guard padding <= mostPadding else { return .tooMuchPadding }
                if phase == .boundary { phase = .padding }
            case (.boundary, 0x0D), (.padding, 0x0D):
                phase = .lineBreak
            case (.close, 0x0D):
                phase = .closeLineBreak
            case (.lineBreak, 0x0A):
                cursor += 1
                return .delimiter
            case (.closeLineBreak, 0x0A):
                cursor += 1
                return .close
            case (.boundary, 0x0A) where lineEnds == .lenient, (.padding, 0x0A) where lineEnds == .lenient:
                cursor += 1
                return .delimiter
            case (.close, 0x0A) where lineEnds == .lenient:
                cursor += 1
                return .close
            default:
                return .mismatch
            }
            if !held.isEmpty { held.append(byte) }
            cursor += 1
        }
        return nil
    }
}
