/// Takes credentials out of what people and logs get to see.
enum Redaction {
    /// What stands in a credential's place.
    static let mark = "<redacted>"

    private static let secretFields = ["authorization", "proxy-authorization", "cookie", "set-cookie"]

    /// The line with its value taken out where that is a secret, else nil.
    static func header(_ line: String) -> String? {
        // By bytes: a combining character behind the colon would make another character of it.
        guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let name = line[..<colon]
        return secretFields.contains(name.lowercased()) ? "\(name): \(mark)" : nil
    }

    /// libcurl's own words, which for HTTP/2 quote header fields as in `h2h3 [cookie: a=b]`.
    static func info(_ line: String) -> String {
        let lowercased = Array(line.lowercased().utf8)
        for field in secretFields {
            let name = Array("\(field):".utf8)
            guard let start = lowercased.indices.first(where: { lowercased[$0...].starts(with: name) }) else {
                continue
            }
            return "\(String(decoding: lowercased[..<(start + name.count)], as: UTF8.self)) \(mark)"
        }
        return withoutUserInfo(line)
    }

    /// A URL of the caller's as it may be shown.
    static func url(_ url: String) -> String {
        (try? Endpoint(url))?.url ?? unreadableURL(url)
    }

    /// What is left of a URL that no parser takes, when all that might be a password is taken out.
    ///
    /// A slash or a space in a password, or a scheme left out, make such a URL: up to the last `@` anything may be secret.
    static func unreadableURL(_ url: String) -> String {
        guard let at = url.utf8.lastIndex(of: UInt8(ascii: "@")) else { return url }
        return "\(mark)@\(url[url.utf8.index(after: at)...])"
    }

    /// The text with `user:password@` taken out of every URL in it.
    static func withoutUserInfo(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "@")) else { return text }
        var result: [UInt8] = []
        var rest = Array(text.utf8)[...]
        let mark = Array("://".utf8)
        while let start = rest.indices.first(where: { rest[$0...].starts(with: mark) }) {
            let authority = start + mark.count
            result += rest[..<authority]
            rest = rest[authority...]
            let end = rest.firstIndex { $0 <= 0x20 || "/?#\"'".utf8.contains($0) } ?? rest.endIndex
            // A password may hold an @ that was not encoded: the last one counts.
            if let at = rest[..<end].lastIndex(of: UInt8(ascii: "@")) { rest = rest[(at + 1)...] }
        }
        return String(decoding: result + rest, as: UTF8.self)
    }
}
