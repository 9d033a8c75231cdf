/// Reads what stands behind the `=` of an argument of `-F`.
///
/// The rules are those of curl's `formparse`, byte by byte: blanks around words do not count unless they are quoted, a
/// quote that is not closed is an ordinary character, keywords may be in upper case, and what follows `type=` belongs to
/// the type until one of the other keywords.
struct FormSpecScanner {
    private let bytes: [UInt8]
    private var position = 0

    private static let semicolon = UInt8(ascii: ";")
    private static let comma = UInt8(ascii: ",")
    private static let quote = UInt8(ascii: "\"")
    private static let equals = UInt8(ascii: "=")
    private static let backslash = UInt8(ascii: "\\")

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    mutating func scan() throws(FormSpecError) -> FormSpec {
        switch current {
        case UInt8(ascii: "("):
            let (text, attributes) = try scanItem(allowsFilename: false)
            guard text == "(" else { throw .textAfterParenthesis(String(text.dropFirst())) }
            return .begin(attributes)
        case UInt8(ascii: "@"):
            var files: [FormSpec.File] = []
            repeat {
                // Over the @, then over the commas.
                position += 1
                let (path, attributes) = try scanItem(endingAt: Self.comma)
                guard !path.isEmpty else { throw .noPath }
                files.append(.init(path: path, attributes: attributes))
            } while current == Self.comma
            return .files(files)
        case UInt8(ascii: "<"):
            position += 1
            let (path, attributes) = try scanItem(allowsFilename: false)
            guard !path.isEmpty else { throw .noPath }
            return .content(of: path, attributes)
        default:
            let (text, attributes) = try scanItem()
            return .value(text, attributes)
        }
    }

    // MARK: Items

    /// A value or path, and what follows it up to the end or separator.
    private mutating func scanItem(
        endingAt separator: UInt8? = nil,
        allowsFilename: Bool = true
    ) throws(FormSpecError) -> (String, FormSpec.Attributes) {
        skipBlanks()
        let text = try scanWord(endingAt: separator)
        var attributes = FormSpec.Attributes()
        // The type's bytes, while what follows may still belong to it.
        var type: Range<Int>?
        while current == Self.semicolon {
            position += 1
            skipBlanks()
            if type == nil, skipKeyword("type=") {
                skipBlanks()
                type = try scanType(endingAt: separator)
            } else if skipKeyword("filename=") {
                close(&type, &attributes)
                skipBlanks()
                attributes.filename = try scanWord(endingAt: separator)
                if !allowsFilename { throw .filenameWithoutFile }
            } else if skipKeyword("headers=") {
                close(&type, &attributes)
                attributes.headers.append(try scanHeader(endingAt: separator))
            } else if skipGzip(endingAt: separator) {
                close(&type, &attributes)
                try scanLevel(endingAt: separator, &attributes)
            } else if skipKeyword("content-encoding=") {
                close(&type, &attributes)
                skipBlanks()
                let encoding = try scanWord(endingAt: separator)
                guard encoding.lowercased() == "gzip" else { throw .unknownEncoding(encoding) }
                attributes.compression = .init(level: attributes.compression?.level, isEncoding: true)
            } else if skipKeyword("encoder=") {
                throw .encoder
            } else if let start = type?.lowerBound {
                type = start..<skipParameter(endingAt: separator)
            } else {
                let unknown = try scanWord(endingAt: separator)
                if !unknown.isEmpty { throw .unknownAttribute(unknown) }
            }
        }
        close(&type, &attributes)
        return (text, attributes)
    }

    private func close(_ type: inout Range<Int>?, _ attributes: inout FormSpec.Attributes) {
        guard let range = type else { return }
        // A semicolon with nothing behind it is not a parameter.
        let last = bytes[range].lastIndex { $0 != Self.semicolon && !Self.isBlank($0) } ?? range.lowerBound
        attributes.type = text(range.lowerBound..<last + 1)
        type = nil
    }

    /// `major/minor` and anything up to the next semicolon or separator.
    private mutating func scanType(endingAt separator: UInt8?) throws(FormSpecError) -> Range<Int> {
        let start = position
        let major = bytes[start...].prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: " ") }
        let minor = bytes[major.endIndex...].dropFirst().prefix {
            $0 != Self.semicolon && $0 != Self.comma && $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\n")
        }
        let hasSlash = major.endIndex < bytes.endIndex && bytes[major.endIndex] == UInt8(ascii: "/")
        guard hasSlash, !major.isEmpty, minor.contains(where: { !Self.isBlank($0) }) else {
            _ = skipParameter(endingAt: separator)
            throw .invalidType(text(start..<position))
        }
        position = minor.endIndex
        return start..<skipParameter(endingAt: separator)
    }

    /// Goes to the next semicolon or separator, and gives the end of what is not blank before it.
    private mutating func skipParameter(endingAt separator: UInt8?) -> Int {
        var end = position
        while let byte = current, byte != Self.semicolon, byte != separator {
            position += 1
            if !Self.isBlank(byte) { end = position }
        }
        return end
    }

    private mutating func scanHeader(endingAt separator: UInt8?) throws(FormSpecError) -> FormSpec.Header {
        let isFile = current == UInt8(ascii: "@") || current == UInt8(ascii: "<")
        if isFile { position += 1 }
        skipBlanks()
        let word = try scanWord(endingAt: separator)
        if !isFile { return .line(word) }
        guard !word.isEmpty else { throw .noPath }
        return .file(word)
    }

    /// Steps over `gzip` where that is the whole word.
    private mutating func skipGzip(endingAt separator: UInt8?) -> Bool {
        let start = position
        guard skipKeyword("gzip") else { return false }
        skipBlanks()
        let isWhole = current == nil || current == Self.semicolon || current == separator || current == Self.equals
        if !isWhole { position = start }
        return isWhole
    }

    /// The level behind `gzip`, if there is one.
    private mutating func scanLevel(
        endingAt separator: UInt8?,
        _ attributes: inout FormSpec.Attributes
    ) throws(FormSpecError) {
        var compression = attributes.compression ?? .init()
        if current == Self.equals {
            position += 1
            skipBlanks()
            let word = try scanWord(endingAt: separator)
            guard word.utf8.count == 1, let level = Int(word) else { throw .invalidGzipLevel(word) }
            compression.level = level
        }
        attributes.compression = compression
    }

    // MARK: Words

    /// A quoted word, or everything up to the next semicolon or separator without the blanks at its end.
    private mutating func scanWord(endingAt separator: UInt8?) throws(FormSpecError) -> String {
        if current == Self.quote, let quoted = scanQuoted() {
            let start = position
            let end = skipParameter(endingAt: separator)
            guard end == start else { throw .textAfterQuote(text(start..<end)) }
            return quoted
        }
        let start = position
        return text(start..<skipParameter(endingAt: separator))
    }

    /// The word between quotes, with `\"` and `\\` undone; nil, and nothing read, where the quote is not closed.
    private mutating func scanQuoted() -> String? {
        var word: [UInt8] = []
        var index = position + 1
        while index < bytes.endIndex {
            let byte = bytes[index]
            let next = index + 1 < bytes.endIndex ? bytes[index + 1] : 0
            if byte == Self.backslash, next == Self.backslash || next == Self.quote {
                word.append(next)
                index += 2
            } else if byte == Self.quote {
                position = index + 1
                return String(decoding: word, as: UTF8.self)
            } else {
                word.append(byte)
                index += 1
            }
        }
        return nil
    }

    // MARK: Bytes

    private var current: UInt8? {
        position < bytes.endIndex ? bytes[position] : nil
    }

    private mutating func skipBlanks() {
        while let byte = current, Self.isBlank(byte) { position += 1 }
    }

    /// Steps over a keyword if it stands here.
    private mutating func skipKeyword(_ keyword: StaticString) -> Bool {
        let wanted = Array("\(keyword)".utf8)
        let found = bytes[position...].prefix(wanted.count).map(Self.lowercased)
        guard found == wanted else { return false }
        position += wanted.count
        return true
    }

    private func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// C's `isspace` in the POSIX locale.
    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || (0x09...0x0D).contains(byte)
    }
}
