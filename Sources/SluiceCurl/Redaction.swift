/// Takes credentials out of what people and logs get to see.
enum Redaction {
    /// The text with `user:password@` taken out of every URL in it.
    static func withoutUserInfo(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "@")), text.contains("://") else { return text }
        var result: [UInt8] = []
        var rest = Array(text.utf8)[...]
        let mark = Array("://".utf8)
        while let start = rest.indices.first(where: { rest[$0...].starts(with: mark) }) {
            let authority = start + mark.count
            result += rest[..<authority]
            rest = rest[authority...]
            let end = rest.firstIndex { $0 <= 0x20 || "/?#\"'".utf8.contains($0) } ?? rest.endIndex
            // Passwords may hold an @ that was not encoded: the last one counts.
            if let at = rest[..<end].lastIndex(of: UInt8(ascii: "@")) { rest = rest[(at + 1)...] }
        }
        return String(decoding: result + rest, as: UTF8.self)
    }
}
