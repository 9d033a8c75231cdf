import Sluice

/// Reads the values of options.
enum OptionValue {
    /// A number of seconds; nil for 0, which is no limit, as with curl.
    ///
    /// - Parameter given: The option.
    /// - Returns: The time.
    /// - Throws: A usage error for anything else.
    static func seconds(_ given: ParsedArguments.Given) throws(ToolError) -> Duration? {
        let isDecimal = given.value.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        guard isDecimal, let seconds = Double(given.value), seconds < 1e9 else {
            throw .usage("--\(given.option.rawValue) is a number of seconds, not '\(printable(given.value))'")
        }
        return seconds == 0 ? nil : .seconds(seconds)
    }

    /// A number of bytes, with K, M or G for multiples of 1024.
    ///
    /// - Parameter given: The option.
    /// - Returns: The number.
    /// - Throws: A usage error for anything else.
    static func bytes(_ given: ParsedArguments.Given) throws(ToolError) -> Int {
        var digits = given.value[...]
        var shift = 0
        if let last = digits.last, let index = ["K", "M", "G"].firstIndex(of: last.uppercased()) {
            digits = digits.dropLast()
            shift = 10 * (index + 1)
        }
        guard isNumber(digits), let count = Int(digits), count <= Int.max >> (shift + 1) else {
            throw .usage(
                "--\(given.option.rawValue) is a number of bytes like 1000 or 64M, not '\(printable(given.value))'"
            )
        }
        return count << shift
    }

    /// A number.
    ///
    /// - Parameters:
    ///   - given: The option.
    ///   - range: What it may be.
    /// - Returns: The number.
    /// - Throws: A usage error for anything else.
    static func number(_ given: ParsedArguments.Given, in range: ClosedRange<Int>) throws(ToolError) -> Int {
        guard isNumber(given.value[...]), let number = Int(given.value), range.contains(number) else {
            throw .usage(
                "--\(given.option.rawValue) is a number from \(range.lowerBound) to \(range.upperBound), "
                    + "not '\(printable(given.value))'"
            )
        }
        return number
    }

    private static func isNumber(_ text: Substring) -> Bool {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

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
