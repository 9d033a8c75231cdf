/// How names and filenames are written inside the quotes of a Content-Disposition header.
public enum NameEscaping: Sendable {
    /// As browsers and current curl do, but NUL is an error: `"` becomes `%22`, CR `%0D`, LF `%0A`, and nothing else is
    /// touched; in names, not filenames, a lone CR or LF becomes CRLF first. This is the default.
    case percent
    /// The WHATWG's multipart/form-data encoding algorithm to the letter: as ``percent``, NUL is allowed, and newlines
    /// in the values of text fields are normalised to CRLF as well.
    case html
    /// RFC 2183 quoted-strings, for receivers that decode them and not the percent form: `"` and `\` get a backslash,
    /// and CR, LF and NUL are errors.
    case backslash

    func name(_ name: String) throws(MultipartError) -> String {
        try check(name, "name")
        return switch self {
        case .percent, .html: Self.percentEncoded(Self.normalisingNewlines(name))
        case .backslash: HeaderGrammar.escaped(name)
        }
    }

    func filename(_ filename: String) throws(MultipartError) -> String {
        try check(filename, "filename")
        return switch self {
        case .percent, .html: Self.percentEncoded(filename)
        case .backslash: HeaderGrammar.escaped(filename)
        }
    }

    private func check(_ text: String, _ what: String) throws(MultipartError) {
        switch self {
        case .html:
            return
        case .percent:
            guard text.utf8.contains(0) else { return }
            throw MultipartError(
                .invalidName,
                "the \(what) \"\(printable(text))\" has a NUL in it; remove it, or use the .html escaping, which allows it"
            )
        case .backslash:
            guard !HeaderGrammar.isFieldValue(text) else { return }
            throw MultipartError(
                .invalidName,
                "the \(what) \"\(printable(text))\" has a CR, LF or NUL in it, which the .backslash escaping cannot write"
            )
        }
    }

    /// Every lone CR and lone LF as CRLF (the WHATWG's algorithm for names, and for values of text fields).
    static func normalisingNewlines(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == 0x0D || $0 == 0x0A }) else { return text }
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count + 8)
        var previousWasCR = false
        for byte in text.utf8 {
            switch byte {
            case 0x0D:
                result += [0x0D, 0x0A]
            case 0x0A:
                if !previousWasCR { result += [0x0D, 0x0A] }
            default:
                result.append(byte)
            }
            previousWasCR = byte == 0x0D
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func percentEncoded(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == 0x22 || $0 == 0x0D || $0 == 0x0A }) else { return text }
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count + 16)
        for byte in text.utf8 {
            switch byte {
            case 0x22: result += Array("%22".utf8)
            case 0x0D: result += Array("%0D".utf8)
            case 0x0A: result += Array("%0A".utf8)
            default: result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
