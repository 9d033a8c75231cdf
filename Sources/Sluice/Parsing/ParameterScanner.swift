/// Reads the `; name=value` parameters of a header's value from left to right, each byte once (RFC 9110 section 5.6.6).
///
/// Values are tokens or quoted strings. There is no white space around the `=`, and an empty parameter is passed over.
struct ParameterScanner {
    /// What a backslash in a quoted string does to a quotation mark behind it.
    enum Backslash {
        case escapes
        case stands
    }

    /// A parameter's place in the bytes.
    struct Parameter {
        let name: Range<Int>
        /// The value; of a quoted one, what is between the quotes.
        let value: Range<Int>
        let isQuoted: Bool
    }

    /// What is wrong, and at which byte.
    struct Problem: Error {
        let offset: Int
        let reason: String
        var code = MultipartError.Code.invalidHeader
    }

    let bytes: ContiguousArray<UInt8>
    private let backslash: Backslash
    private let end: Int
    private var index: Int
    private var left: Int

    /// - Parameters:
    ///   - bytes: Where the value is.
    ///   - range: The value, or what is left of it.
    ///   - backslash: What a backslash does.
    ///   - limit: The most parameters, empty ones too.
    init(_ bytes: ContiguousArray<UInt8>, _ range: Range<Int>, _ backslash: Backslash, limit: Int) {
        self.bytes = bytes
        self.backslash = backslash
        index = range.lowerBound
        end = range.upperBound
        left = limit
    }

    /// A token, such as the value begins with.
    mutating func token() -> Range<Int>? {
        let start = index
        while index < end, HeaderGrammar.isTokenCharacter(bytes[index]) { index += 1 }
        return start < index ? start..<index : nil
    }

    /// Passes over one byte if it is the next.
    mutating func take(_ byte: UInt8) -> Bool {
        guard index < end, bytes[index] == byte else { return false }
        index += 1
        return true
    }

    /// The next parameter, or nil at the value's end.
    mutating func next() throws(Problem) -> Parameter? {
        while true {
            skipWhitespace()
            if index == end { return nil }
            guard take(UInt8(ascii: ";")) else {
                throw Problem(offset: index, reason: "something other than a semicolon is behind a value")
            }
            guard left > 0 else {
                throw Problem(
                    offset: index - 1,
                    reason: "there are more parameters than are allowed",
                    code: .tooManyParameters
                )
            }
            left -= 1
            skipWhitespace()
            if index == end || bytes[index] == UInt8(ascii: ";") { continue }
            guard let name = token() else {
                throw Problem(offset: index, reason: "a parameter's name is not a token")
            }
            guard take(UInt8(ascii: "=")) else {
                throw Problem(offset: index, reason: "a parameter's name is not followed by =")
            }
            if take(UInt8(ascii: "\"")) {
                return Parameter(name: name, value: try quotedString(), isQuoted: true)
            }
            guard let value = token() else {
                throw Problem(offset: index, reason: "a parameter's value is neither a token nor in quotes")
            }
            return Parameter(name: name, value: value, isQuoted: false)
        }
    }

    private mutating func quotedString() throws(Problem) -> Range<Int> {
        let start = index
        while index < end {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                index += 1
                return start..<index - 1
            case UInt8(ascii: "\\") where backslash == .escapes:
                // Whatever follows does not end the string; what it means is for who decodes it.
                index += 2
            default:
                index += 1
            }
        }
        throw Problem(offset: start - 1, reason: "a quoted value has no end")
    }

    private mutating func skipWhitespace() {
        while index < end, bytes[index] == 0x20 || bytes[index] == 0x09 { index += 1 }
    }
}

extension ContiguousArray<UInt8> {
    /// Whether the bytes are this text in any case, which has lowercase letters and otherwise only characters below `@`.
    // Inlined, so that the text's length is known and the comparison is of a few words.
    @inline(__always)
    func isText(_ text: StaticString, at range: Range<Int>) -> Bool {
        guard range.count == text.utf8CodeUnitCount, range.lowerBound >= 0, range.upperBound <= count else {
            return false
        }
        // Each read lies within `range`, which is within the array, and within `text`, which is as long.
        // Of these texts' characters only the letters have the bit 0x40; the bit 0x20 is their case.
        return unsafe withUnsafeBytes { bytes in
            text.withUTF8Buffer { text in
                var offset = 0
                while offset + 8 <= text.count {
                    let wanted = unsafe UnsafeRawBufferPointer(text).loadUnaligned(
                        fromByteOffset: offset,
                        as: UInt64.self
                    )
                    let word = unsafe bytes.loadUnaligned(fromByteOffset: range.lowerBound + offset, as: UInt64.self)
                    if word | (wanted & 0x4040_4040_4040_4040) >> 1 != wanted { return false }
                    offset += 8
                }
                while offset < text.count {
                    let wanted = unsafe text[offset]
                    if unsafe bytes[range.lowerBound + offset] | (wanted & 0x40) >> 1 != wanted { return false }
                    offset += 1
                }
                return true
            }
        }
    }
}
