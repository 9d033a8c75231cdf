/// The value of a parameter such as `filename*` (RFC 8187 section 3.2): `UTF-8'language'percent-encoded`.
enum ExtendedValue {
    /// What the value stands for, in UTF-8; nil where it is malformed or in another charset than UTF-8 or ISO-8859-1.
    static func decode(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        let pieces = bytes.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard pieces.count == 3, let encoded = pieces.last, let decoded = percentDecoded(encoded) else { return nil }
        switch String(decoding: pieces[0], as: UTF8.self).lowercased() {
        case "utf-8":
            // What is no UTF-8 is malformed here.
            return String(validating: decoded, as: UTF8.self) == nil ? nil : decoded
        case "iso-8859-1":
            return Array(String(String.UnicodeScalarView(decoded.map { Unicode.Scalar($0) })).utf8)
        default:
            return nil
        }
    }

    private static func percentDecoded(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.popFirst().flatMap(hexDigit), let low = rest.popFirst().flatMap(hexDigit) else {
                    return nil
                }
                result.append(high << 4 | low)
            } else if isAttributeCharacter(byte) {
                result.append(byte)
            } else {
                return nil
            }
        }
        return result
    }

    /// RFC 8187 section 3.2.1 `attr-char`: a token's characters but for three.
    private static func isAttributeCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "*"), UInt8(ascii: "'"), UInt8(ascii: "%"): false
        default: HeaderGrammar.isTokenCharacter(byte)
        }
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
