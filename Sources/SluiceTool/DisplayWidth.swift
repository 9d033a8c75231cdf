/// How many columns of a terminal text takes up.
enum DisplayWidth {
    /// The columns that `text` takes up: two for a wide character, none for a combining one.
    static func columns(of text: String) -> Int {
        text.reduce(0) { $0 + columns(of: $1) }
    }

    /// The text, cut so that it takes up at most `columns` with `...` at its end.
    static func truncated(_ text: String, to columns: Int) -> String {
        guard self.columns(of: text) > columns else { return text }
        var result = ""
        var room = columns - 3
        for character in text {
            room -= self.columns(of: character)
            if room < 0 { break }
            result.append(character)
        }
        return String((result + "...").suffix(max(columns, 0)))
    }

    /// The text with spaces before it, so that it takes up at least `columns`.
    static func padded(_ text: String, to columns: Int) -> String {
        String(repeating: " ", count: max(columns - self.columns(of: text), 0)) + text
    }

    private static func columns(of character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        if first.value < 0x300 { return 1 }
        if first.properties.generalCategory == .nonspacingMark || first.value == 0x200B { return 0 }
        // The blocks that East Asian Width calls wide or full, and emoji.
        let wide: [ClosedRange<UInt32>] = [
            0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF,
            0x20000...0x3FFFD,
        ]
        return wide.contains { $0.contains(first.value) } ? 2 : 1
    }
}
