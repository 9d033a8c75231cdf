/// The character classes that header fields are made of.
package enum HeaderGrammar {
    /// RFC 9110 section 5.6.2 `tchar`: what a token consists of.
    static func isTokenCharacter(_ byte: UInt8) -> Bool {
        // A bit for each of the characters ! # $ % & ' * + - . 0-9, and from 0x40 on A-Z ^ _ ` a-z | ~
        let characters: UInt64 = byte < 0x40 ? 0x03FF_6CFA_0000_0000 : byte < 0x80 ? 0x57FF_FFFF_C7FF_FFFE : 0
        return characters &>> UInt64(byte & 63) & 1 == 1
    }

    package static func isToken(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isTokenCharacter)
    }

    /// Whether a value stays within its line: no CR, LF or NUL (RFC 9110 section 5.5).
    package static func isFieldValue(_ text: some StringProtocol) -> Bool {
        !text.utf8.contains { $0 == 0x0D || $0 == 0x0A || $0 == 0 }
    }

    /// A parameter's value as it is written: a token as it is, anything else quoted (RFC 2045 section 5.1).
    static func parameterValue(_ text: String) -> String {
        isToken(text) ? text : "\"" + escaped(text) + "\""
    }

    /// The inside of a quoted-string: `"` and `\` with a backslash (RFC 822 section 3.3).
    static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            if scalar == "\"" || scalar == "\\" { result += "\\" }
            result.unicodeScalars.append(scalar)
        }
    }
}
