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
    private var requestBytesBefore: Int64 = -1
    /// The bytes of requests that were sent when the last head ended that was not an interim one; -1 before there is one.
    private(set) var answeredRequestBytes: Int64 = -1

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

    /// Whether all of the body that the head announces is here; false where it announces no length.
    var isBodyComplete: Bool {
        guard let length = headers.first(where: { $0.name.lowercased() == "content-length" })?.value else {
            return false
        }
        return Int(length) == body.count
    }

    /// Why it is not clear where the body ends, so that what comes may be a part of it (RFC 9112 section 6.3); nil where
    /// it is.
    ///
    /// libcurl takes what it understands of such fields.
    var framingFlaw: String? {
        func values(_ name: String) -> [String] {
            headers.filter { $0.name.lowercased() == name }.flatMap {
                $0.value.split(separator: ",", omittingEmptySubsequences: false).map {
                    $0.lowercased().trimmingBlanks()
                }
            }
        }
        // White space before the colon, which makes it another field to some readers and not to others.
        if headers.contains(where: { $0.name.utf8.last.map(Self.isBlank) == true }) {
            return "a field with white space before its colon"
        }
        let lengths = values("content-length")
        for length in lengths
        where length != lengths[0] || !length.utf8.allSatisfy({ (0x30...0x39).contains($0) }) || Int64(length) == nil {
            return "a Content-Length that is none"
        }
        let codings = values("transfer-encoding")
        if !codings.isEmpty, codings.last != "chunked" { return "a Transfer-Encoding that does not end in chunked" }
        return nil
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
    /// - Parameters:
    ///   - bytes: The line.
    ///   - requestBytes: The bytes of requests that were sent so far: where there are no more than at the last status line,
    ///     what looks like another one is a trailer.
    /// - Returns: Whether to go on.
    func takeHeader(_ bytes: UnsafeRawBufferPointer, requestBytes: Int64) -> Bool {
        headBytes += bytes.count
        guard headBytes <= Self.headLimit else {
            isHeadTooLarge = true
            return false
        }
        // By bytes: what a server sends need not be text.
        var line = unsafe bytes[...]
        while let last = unsafe line.last, last == 0x0A || last == 0x0D { unsafe line.removeLast() }
        let isStatus = unsafe line.starts(with: "HTTP/".utf8)
        let isAnotherAnswer = isHeadComplete && requestBytes > requestBytesBefore
        if isStatus, status == nil || isAnotherAnswer {
            requestBytesBefore = requestBytes
            begin(unsafe String(decoding: line, as: UTF8.self))
        } else if isHeadComplete || status == nil {
            // A trailer: nobody asked for it.
        } else if unsafe line.isEmpty {
            // An interim response is not the one that is waited for.
            isHeadComplete = (status ?? 0) >= 200
            if isHeadComplete { answeredRequestBytes = requestBytes } else { status = nil }
        } else if let last = headers.indices.last, let first = unsafe line.first, Self.isBlank(first) {
            // RFC 9112 section 5.2: a line that begins with white space belongs to the field before.
            headers[last].value += " " + (unsafe Self.trimmed(line))
        } else if let colon = unsafe line.firstIndex(of: UInt8(ascii: ":")) {
            let name = unsafe String(decoding: line[..<colon], as: UTF8.self)
            headers.append((name, unsafe Self.trimmed(line[(colon + 1)...])))
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
    private func begin(_ line: String) {
        let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        httpVersion = words.first.map(String.init) ?? ""
        status = words.count > 1 ? Int(words[1]) : nil
        reason = words.count > 2 && !words[2].isEmpty ? String(words[2]) : nil
        headers = []
        body = []
        isHeadComplete = false
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// The text without white space around it.
    private static func trimmed(_ text: Slice<UnsafeRawBufferPointer>) -> String {
        var text = unsafe text
        while let first = unsafe text.first, isBlank(first) { unsafe text.removeFirst() }
        while let last = unsafe text.last, isBlank(last) { unsafe text.removeLast() }
        return unsafe String(decoding: text, as: UTF8.self)
    }
}

extension String {
    /// Without the spaces and tabs around it.
    fileprivate func trimmingBlanks() -> String {
        let rest = drop { $0 == " " || $0 == "\t" }
        return String(
            rest.prefix(upTo: rest.lastIndex { $0 != " " && $0 != "\t" }.map(rest.index(after:)) ?? rest.startIndex)
        )
    }
}
