/// Reads values that have a secret behind a colon.
enum SecretValue {
    /// Splits `NAME:PASSWORD`.
    ///
    /// - Parameter text: The value.
    /// - Returns: The two; nil where there is no colon.
    static func credentials(_ text: String) -> (user: String, password: String)? {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        return (String(text[..<colon]), String(text[text.utf8.index(after: colon)...]))
    }

    /// Splits `FILE:PASSPHRASE` as curl does: a colon of the file's name has a backslash before it, and so has a
    /// backslash where there is either.
    ///
    /// - Parameter text: The value.
    /// - Returns: The two; the passphrase is nil where there is none.
    static func certificate(_ text: String) -> (file: String, passphrase: String?) {
        var file = String.UnicodeScalarView()
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case ":": return (String(file), String(rest))
            case "\\" where rest.first == ":" || rest.first == "\\": file.append(rest.removeFirst())
            default: file.append(scalar)
            }
        }
        return (String(file), nil)
    }
}
