import Sluice

extension ParsedArguments.Given {
    /// The value as a number of bytes, with K, M or G for multiples of 1024.
    ///
    /// - Returns: The number.
    /// - Throws: A usage error where it is none.
    func bytes() throws(ToolError) -> Int {
        var digits = value[...]
        var shift = 0
        if let last = digits.last, let index = ["K", "M", "G"].firstIndex(of: last.uppercased()) {
            digits = digits.dropLast()
            shift = 10 * (index + 1)
        }
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(digits),
            count <= Int.max >> (shift + 1)
        else {
            throw .usage("--\(option.rawValue) is a number of bytes like 1000 or 64M, not '\(printable(value))'")
        }
        return count << shift
    }

    /// The value as a number of seconds; 0 is no limit, as with curl.
    ///
    /// - Returns: The time; nil for 0.
    /// - Throws: A usage error where it is none.
    func seconds() throws(ToolError) -> Duration? {
        let isDecimal = value.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        guard isDecimal, let seconds = Double(value), seconds < 1e9 else {
            throw .usage("--\(option.rawValue) is a number of seconds, not '\(printable(value))'")
        }
        return seconds == 0 ? nil : .seconds(seconds)
    }

    /// The value as a number.
    ///
    /// - Parameter range: What it may be.
    /// - Returns: The number.
    /// - Throws: A usage error where it is none, or another one.
    func number(in range: ClosedRange<Int>) throws(ToolError) -> Int {
        let number = try number()
        guard range.contains(number) else {
            throw .usage(
                "--\(option.rawValue) is a number from \(range.lowerBound) to \(range.upperBound), not \(number)"
            )
        }
        return number
    }

    /// The value as a number.
    ///
    /// - Returns: The number, which is not negative.
    /// - Throws: A usage error where it is none.
    func number() throws(ToolError) -> Int {
        guard value.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(value) else {
            throw .usage("--\(option.rawValue) is a number, not '\(printable(value))'")
        }
        return number
    }
}
