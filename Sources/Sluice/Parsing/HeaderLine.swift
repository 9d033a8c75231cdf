/// A header line's name and value.
struct HeaderLine {
    /// The fields that mean something to the parser.
    enum Field {
        case disposition
        case contentType
        case other
    }

    let field: Field
    let name: Range<Int>
    let value: Range<Int>
    /// Where the next line begins.
    let end: Int
    /// Where in the value a CR or NUL is.
    let stray: Int?

    /// Reads a line; nil where there is no token with a colon behind it.
    ///
    /// - Parameters:
    ///   - bytes: Where the line is; all lines end in LF.
    ///   - start: Where it begins.
    @inline(__always)
    init?(_ bytes: ContiguousArray<UInt8>, _ start: Int) {
        var index = start
        // Most lines are one of these two, and so are not looked at byte by byte.
        if bytes.isText("content-disposition:", at: start..<start + 20) {
            (field, index) = (.disposition, start + 19)
        } else if bytes.isText("content-type:", at: start..<start + 13) {
            (field, index) = (.contentType, start + 12)
        } else {
            field = .other
            while index < bytes.count, HeaderGrammar.isTokenCharacter(bytes[index]) { index += 1 }
            guard index > start, index < bytes.count, bytes[index] == UInt8(ascii: ":") else { return nil }
        }
        name = start..<index
        var first = index + 1
        // Mostly the CR of the line's end.
        let special = bytes.span.firstOffsetOfLineByte(in: first..<bytes.count) ?? bytes.count
        var last = bytes.span.firstOffset(of: 0x0A, in: special..<bytes.count) ?? bytes.count
        end = min(last + 1, bytes.count)
        if last > first, bytes[last - 1] == 0x0D { last -= 1 }
        stray = special < last ? special : nil
        while first < last, bytes[first] == 0x20 || bytes[first] == 0x09 { first += 1 }
        while last > first, bytes[last - 1] == 0x20 || bytes[last - 1] == 0x09 { last -= 1 }
        value = first..<last
    }
}
