/// The receiving side of a transfer: the head and the body of the final response, bounded while they arrive.
///
/// Interim responses and challenges come through here too; each status line begins anew. Used on the loop's thread only.
final class ResponseCollector {
    let bodyLimit: Int
    private let followsRedirects: Bool

    /// The status code; nil before there is one.
    private(set) var status: Int?
    private(set) var reason: String?
    private(set) var httpVersion = ""
    private(set) var headers: [(name: String, value: String)] = []
    /// Whether the head has ended, of a response that is not an interim one.
    private(set) var isHeadComplete = false
    private(set) var body: [UInt8] = []
    /// Whether the body is longer than the limit.
    private(set) var isTooLarge = false
    /// Whether there are more header fields than any server has a reason to send.
    private(set) var isHeadTooLarge = false
    /// The bytes of all heads so far.
    private(set) var headBytes = 0
    private var discardedBytes = 0

    /// As much as libcurl's newer versions take in all.
    private static let headLimit = 300 * 1024
    /// The most of a redirect's body that is read for the connection to be of further use.
    private static let discardLimit = 64 * 1024

    /// Makes a collector.
    ///
    /// - Parameters:
    ///   - bodyLimit: The most bytes of the body.
    ///   - followsRedirects: Whether a redirect's body is of no interest.
    init(bodyLimit: Int, followsRedirects: Bool) {
        self.bodyLimit = bodyLimit
        self.followsRedirects = followsRedirects
    }

    /// Where the response redirects to, if it is one to follow.
    var redirectLocation: String? {
        guard followsRedirects, isHeadComplete, let status, [301, 302, 303, 307, 308].contains(status) else {
            return nil
        }
        return headers.first { $0.name.lowercased() == "location" }?.value
    }

    /// Takes a line of a head, its end included.
    ///
    /// - Returns: Whether to go on.
    func takeHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
        headBytes += bytes.count
        guard headBytes <= Self.headLimit else {
            isHeadTooLarge = true
            return false
        }
        var line = unsafe Substring(String(decoding: bytes, as: UTF8.self))
        while let last = line.last, last.isNewline { line.removeLast() }
        if line.hasPrefix("HTTP/"), status == nil || isHeadComplete || headers.isEmpty {
            begin(line)
        } else if isHeadComplete || status == nil {
            // A trailer: nobody asked for it.
        } else if line.isEmpty {
            // An interim response is not the one that is waited for.
            isHeadComplete = (status ?? 0) >= 200
            if !isHeadComplete { status = nil }
        } else if line.first == " " || line.first == "\t" {
            fold(line)
        } else if let colon = line.firstIndex(of: ":") {
            headers.append((String(line[..<colon]), Self.trimmed(line[line.index(after: colon)...])))
        }
        return true
    }

    /// Takes bytes of the body.
    ///
    /// - Returns: Whether to go on.
    func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if redirectLocation != nil {
            discardedBytes += bytes.count
            return discardedBytes <= Self.discardLimit
        }
        guard body.count + bytes.count <= bodyLimit else {
            isTooLarge = true
            return false
        }
        unsafe body.append(contentsOf: bytes)
        return true
    }

    /// `HTTP/1.1 200 OK`, `HTTP/2 200`.
    private func begin(_ line: Substring) {
        let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        httpVersion = words.first.map(String.init) ?? ""
        status = words.count > 1 ? Int(words[1]) : nil
        let text = words.count > 2 ? Self.trimmed(words[2]) : ""
        reason = text.isEmpty ? nil : text
        headers = []
        body = []
        isHeadComplete = false
    }

    /// RFC 9112 section 5.2: a line that begins with white space belongs to the field before.
    private func fold(_ line: Substring) {
        guard let last = headers.indices.last else { return }
        headers[last].value += " " + Self.trimmed(line)
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }
}
