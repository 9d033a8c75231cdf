internal import Sluice

/// What tells whether a resource is still the same, byte for byte (RFC 9110 section 8.8).
struct Validator: Sendable, Hashable {
    enum Kind: String, Sendable {
        case etag, modified
    }

    let kind: Kind
    /// The value as the server sent it, to be sent back in `If-Range`.
    let value: String
    /// The content's `Content-Encoding`; empty where there is none.
    let coding: String

    /// More bytes than any server needs, and few enough to be written down.
    private static let longest = 1024

    /// Takes a value that was written down.
    init?(_ kind: Kind, _ value: String, coding: String = "") {
        guard value.utf8.count <= Self.longest, coding.utf8.count <= Self.longest, HeaderGrammar.isFieldValue(coding)
        else { return nil }
        switch kind {
        case .etag: guard Self.isStrongTag(value) else { return nil }
        case .modified: guard HTTPDate.seconds(value) != nil, HeaderGrammar.isFieldValue(value) else { return nil }
        }
        self.kind = kind
        self.value = value
        self.coding = coding
    }

    /// Finds the strongest validator of an answer, if it has one that is strong enough.
    ///
    /// - Parameter header: Gives a field's value.
    init?(of header: (String) -> String?) {
        if header("Accept-Ranges")?.lowercased() == "none" { return nil }
        let coding = Self.coding(header)
        if let tag = header("ETag") {
            // A weak one says that the content means the same, not that it is the same.
            self.init(.etag, tag, coding: coding)
            return
        }
        // A file and what it is compressed to are of one date, while each should have a strong tag of its own.
        if !coding.isEmpty { return nil }
        // RFC 9110 section 8.8.2.2: within the second of its modification a resource may be modified again unnoticed.
        guard let modified = header("Last-Modified"), let date = header("Date"),
            let then = HTTPDate.seconds(modified), let now = HTTPDate.seconds(date), now - then >= 1
        else { return nil }
        self.init(.modified, modified)
    }

    /// Whether an answer says that the resource is another one, or does not say that it is the same where it must (RFC 9110
    /// section 15.3.7).
    func contradicts(_ header: (String) -> String?) -> Bool {
        if Self.coding(header) != coding { return true }
        switch kind {
        case .etag: return header("ETag") != value
        case .modified: return header("Last-Modified").map { $0 != value } ?? false
        }
    }

    private static func coding(_ header: (String) -> String?) -> String {
        let coding = header("Content-Encoding")?.lowercased() ?? ""
        return coding == "identity" ? "" : coding
    }

    /// Whether it is an `entity-tag` without `W/`.
    private static func isStrongTag(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        let quote = UInt8(ascii: "\"")
        return bytes.count >= 2 && bytes.first == quote && bytes.last == quote
            && bytes.dropFirst().dropLast().allSatisfy { $0 > 0x20 && $0 != quote && $0 != 0x7F }
            // What is no UTF-8 was repaired, and would not be sent back as it came.
            && !text.unicodeScalars.contains("\u{FFFD}")
    }
}

/// Where a download can go on that broke off.
struct ResumePoint: Sendable, Hashable {
    let offset: Int64
    let validator: Validator
    /// The bytes of the whole, where the server said so.
    let total: Int64?
}

/// A `Content-Range` (RFC 9110 section 14.4).
struct ContentRange: Hashable {
    let first: Int64
    let last: Int64
    /// The bytes of the whole; nil where the server does not know.
    let total: Int64?

    /// Reads `bytes 0-499/1234` or `bytes 0-499/*`; nil for anything else, also a range that contradicts itself.
    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            last < Int64.max
        else { return nil }
        self.first = first
        self.last = last
        if halves[1] == "*" {
            total = nil
        } else {
            guard let total = Self.number(halves[1]), last < total else { return nil }
            self.total = total
        }
    }

    private static func number(_ digits: Substring) -> Int64? {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(digits)
    }
}
