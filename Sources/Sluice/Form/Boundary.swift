/// The text that separates the parts of a multipart body (RFC 2046 section 5.1.1).
public struct Boundary: Hashable, Sendable, CustomStringConvertible {
    /// The boundary itself, without the leading hyphens of a delimiter.
    public let description: String

    /// A random boundary.
    ///
    /// 25 letters and digits from the system's random number generator, which are 148 bits, behind a fixed prefix. It
    /// is a token, so it never needs quotes.
    public init() {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
        var generator = SystemRandomNumberGenerator()
        let letters = (0..<25).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)] }
        description = "sluice-" + String(decoding: letters, as: UTF8.self)
    }

    /// A boundary of the caller's.
    ///
    /// It must not occur in the content of any part; a random one needs no such care. See
    /// ``MultipartForm/checksMemoryForBoundary``.
    ///
    /// - Parameter text: 1 to 70 of the characters `0-9 A-Z a-z ' ( ) + _ , - . / : = ?` and space, not ending in a
    ///   space.
    /// - Throws: ``MultipartError/Code/invalidBoundary`` for anything else.
    public init(_ text: String) throws(MultipartError) {
        let bytes = text.utf8
        guard (1...70).contains(bytes.count) else {
            throw MultipartError(.invalidBoundary, "a boundary has 1 to 70 characters, not \(bytes.count)")
        }
        guard bytes.allSatisfy(Self.isBoundaryCharacter) else {
            throw MultipartError(
                .invalidBoundary,
                "the boundary \"\(printable(text))\" has a character other than 0-9 A-Z a-z ' ( ) + _ , - . / : = ? or space"
            )
        }
        guard bytes.last != UInt8(ascii: " ") else {
            throw MultipartError(.invalidBoundary, "the boundary \"\(text)\" ends in a space")
        }
        description = text
    }

    /// RFC 2046 section 5.1.1 `bchars`.
    private static func isBoundaryCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        case UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "+"), UInt8(ascii: "_"),
            UInt8(ascii: ","), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: ":"),
            UInt8(ascii: "="), UInt8(ascii: "?"), UInt8(ascii: " "):
            true
        default:
            false
        }
    }
}
