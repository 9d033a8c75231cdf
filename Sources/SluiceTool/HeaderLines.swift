/// The header lines that `headers=@FILE` names, in curl's format for such files.
enum HeaderLines {
    /// Finds the headers in a file's text.
    ///
    /// A line that begins with a blank continues the one before it, one that begins with `#` is a comment, empty lines
    /// and carriage returns do not count, and blanks at the end of a header are taken off.
    ///
    /// - Parameter text: The file's bytes.
    /// - Returns: The headers, each in one line.
    static func parse(_ text: [UInt8]) -> [String] {
        var headers: [[UInt8]] = []
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let line = line.filter { $0 != UInt8(ascii: "\r") }
            guard let first = line.first, first != UInt8(ascii: "#") else { continue }
            if isBlank(first), let last = headers.indices.last {
                headers[last] += line
            } else {
                headers.append(line)
            }
        }
        return headers.compactMap { header in
            guard let last = header.lastIndex(where: { !isBlank($0) }) else { return nil }
            return String(decoding: header[...last], as: UTF8.self)
        }
    }

    /// Splits a header line at its first colon.
    ///
    /// - Parameter line: A line like `Name: value`.
    /// - Returns: The name, and the value without the blanks around it; nil without a colon.
    static func split(_ line: String) -> (name: String, value: String)? {
        guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let value = line.utf8[line.utf8.index(after: colon)...]
        let start = value.firstIndex { !isBlank($0) } ?? value.endIndex
        let end = value.lastIndex { !isBlank($0) }.map(value.index(after:)) ?? start
        return (String(line[..<colon]), String(line[start..<end]))
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || (0x09...0x0D).contains(byte)
    }
}
