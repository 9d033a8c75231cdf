/// What a server said of an HTTP/2 stream that it does not answer.
///
/// libcurl tells it in words alone, which are different from version to version: what is not understood counts as unsaid.
struct StreamFate {
    /// Whether nobody acted on the request (RFC 9113 sections 6.8 and 8.7).
    private(set) var isUnseen = false
    /// Whether the server closes the connection.
    private(set) var isConnectionClosing = false
    private var stream: Int?

    /// Takes a line of libcurl's information.
    ///
    /// - Parameters:
    ///   - line: The line.
    ///   - hasBody: Whether the request has a body, which libcurl asks for anew before it sends it again by itself. A
    ///     request without one is sent again without a word, and may be seen then.
    mutating func hear(_ line: String, hasBody: Bool) {
        if line.hasPrefix("REFUSED_STREAM") {
            isUnseen = hasBody
        } else if let stream = Self.number(behind: "Using Stream ID: ", in: line) {
            self.stream = stream
            // Sent again, maybe: of this stream nothing is known.
            isUnseen = false
        } else if let last = Self.number(behind: "last_stream=", in: line), line.contains("GOAWAY") {
            isConnectionClosing = true
            // It may be about another stream on the same connection.
            if let stream, stream > last { isUnseen = true }
        }
    }

    /// Says that the body is sent, maybe again: what was refused is what was sent before.
    mutating func beginBody() {
        isUnseen = false
    }

    private static func number(behind words: String, in line: String) -> Int? {
        guard let range = line.firstRange(of: words) else { return nil }
        return Int(line[range.upperBound...].prefix { $0.isASCII && $0.isNumber })
    }
}
