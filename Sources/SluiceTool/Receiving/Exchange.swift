internal import CMicroHTTPD
import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A request and its answer, used by its connection's thread only.
final class Exchange {
    private let settings: UploadServer.Settings
    private var receiver: BodyReceiver?
    private var outcome: UploadServer.Outcome?
    /// The bytes of the body; nil where the client does not say.
    private var length: Int64?
    private var taken: Int64 = 0
    /// The bytes that were offered and not taken.
    private var left = 0
    private var lowWaterMark: LowWaterMark?
    /// The bytes that came after the upload was refused, or after its last delimiter.
    private var discarded = 0

    /// How much more is read of an upload that is refused, so that a client that does not read before it has sent all
    /// gets to see the answer; and of what follows the last delimiter.
    private static let discardLimit = 64 << 20

    private static let mostHeadBytes = 64 << 10

    init(_ settings: UploadServer.Settings) {
        self.settings = settings
    }

    // MARK: The stages of a request

    /// Looks at the head.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path, without the query.
    ///   - version: The protocol's version, as in `HTTP/1.1`.
    ///   - connection: The connection.
    /// - Returns: Whether the connection is to stay open.
    func begin(_ method: String, _ path: String, _ version: String, _ connection: OpaquePointer) -> Bool {
        switch method {
        case "POST", "PUT":
            return unsafe beginUpload(version, connection)
        case "GET", "HEAD":
            guard path == "/" else {
                return unsafe answer(connection, .error(404, "there is only the page at / to see"))
            }
            return unsafe answer(connection, .page)
        default:
            return unsafe answer(connection, .error(405, "uploads are sent with POST"))
        }
    }

    private func beginUpload(_ version: String, _ connection: OpaquePointer) -> Bool {
        if let reason = unsafe Self.framingFlaw(connection, version) {
            outcome = .refused(status: 400, reason: reason)
            let socket = unsafe sluice_mhd_socket(connection)
            // Where the body ends cannot be told, so that the answer is the last thing to be said here.
            return send(.error(400, reason), socket) && shutdown(socket, Int32(SHUT_WR)) == 0
        }
        let isChunked = unsafe Self.header("Transfer-Encoding", connection) != nil
        length = unsafe isChunked ? nil : Self.header("Content-Length", connection).flatMap { Int64($0) }
        do throws(Refusal) {
            // What is behind it in the connection's buffer has to hold blocks of the body.
            guard unsafe sluice_mhd_head_size(connection) <= Self.mostHeadBytes else {
                throw Refusal(
                    status: 431,
                    reason: "the request's header fields have more than \(Self.mostHeadBytes) bytes"
                )
            }
            let refusal = unsafe settings.visitors.refusal(
                host: Self.header("Host", connection),
                origin: Self.header("Origin", connection),
                site: Self.header("Sec-Fetch-Site", connection)
            )
            if let refusal { throw Refusal(status: 403, reason: refusal) }
            receiver = try unsafe makeReceiver(Self.header("Content-Type", connection))
            lowWaterMark = LowWaterMark(unsafe sluice_mhd_socket(connection))
            return true
        } catch {
            let isBodyComing = unsafe (isChunked || length ?? 0 > 0) && Self.header("Expect", connection) == nil
            return unsafe refuse(error, connection, isBodyComing: isBodyComing)
        }
    }

    /// Why it is not clear where the body ends, so that another reader might see the end elsewhere (RFC 9112 section
    /// 6.3); nil where it is.
    private static func framingFlaw(_ connection: OpaquePointer, _ version: String) -> String? {
        let lengths = unsafe sluice_mhd_header_count(connection, "Content-Length")
        let codings = unsafe sluice_mhd_header_count(connection, "Transfer-Encoding")
        if lengths + codings > 1 { return "the request says more than once how long its body is" }
        // RFC 9112 section 6.1.
        if codings == 1, version == "HTTP/1.0" { return "the request has a Transfer-Encoding, which HTTP/1.0 has not" }
        for name in ["Host", "Origin", "Sec-Fetch-Site", "Content-Type"]
        where unsafe sluice_mhd_header_count(connection, name) > 1 {
            return "the request has more than one \(name)"
        }
        if lengths == 1, unsafe header("Content-Length", connection).flatMap({ Int64($0) }) == nil {
            return "the request has a Content-Length that is none"
        }
        if codings == 1, unsafe header("Transfer-Encoding", connection)?.lowercased() != "chunked" {
            return "the request has a Transfer-Encoding that is not chunked"
        }
        return nil
    }

    private func makeReceiver(_ contentType: String?) throws(Refusal) -> BodyReceiver {
        do throws(MultipartError) {
            let rules = settings.rules
            guard let contentType else { throw MultipartError(.notMultipart, "the request has no Content-Type") }
            let type = try MultipartContentType(contentType)
            if let length {
                // What is longer may yet be an epilogue, so only what cannot be right is refused by its length.
                guard length <= rules.limits.totalBytes.addingSaturated(Int64(Self.discardLimit)) else {
                    throw MultipartError(.bodyTooLarge, "the body has more than \(rules.limits.totalBytes) bytes")
                }
                if let free = settings.inbox.freeBytes, rules.minimumFree > 0,
                    free.addingSaturated(-max(length, 0)) < rules.minimumFree
                {
                    throw .diskFull(settings.inbox.path, keeping: rules.minimumFree)
                }
            }
            return BodyReceiver(type, rules, into: settings.inbox, .number)
        } catch {
            throw Refusal(error)
        }
    }

    /// Takes in a piece of the body.
    ///
    /// - Parameters:
    ///   - bytes: The piece, lent for the call.
    ///   - connection: The connection.
    /// - Returns: How many of the bytes were taken, the others being offered again; nil to close the connection.
    func take(_ bytes: UnsafeRawBufferPointer, _ connection: OpaquePointer) -> Int? {
        let isComplete = receiver?.isComplete == true
        if receiver == nil || isComplete { discarded += bytes.count }
        guard discarded <= Self.discardLimit else {
            if isComplete {
                receiver = nil
                outcome = .refused(status: 413, reason: "too much follows the last delimiter")
            }
            return nil
        }
        do {
            var count = bytes.count
            // Where the end is not known, bytes that are left might be the last, and never be offered again.
            if let length, receiver != nil, taken + Int64(count) < length {
                count = receiver?.wholeBlocks(of: count) ?? count
                try unsafe take(bytes[..<count])
                let isMoreThere = lowWaterMark?.wait(after: bytes.count - left, of: length - taken) == true
                left = bytes.count - count
                // Whoever sends slowly is told at once what is wrong with what was sent.
                if left == 0 || isMoreThere { return count }
            } else {
                count = 0
            }
            left = 0
            try unsafe take(bytes[count...])
            return bytes.count
        } catch {
            receiver = nil
            lowWaterMark?.lower()
            lowWaterMark = nil
            return unsafe refuse(Refusal(error), connection, isBodyComing: true) ? bytes.count : nil
        }
    }

    private func take(_ bytes: Slice<UnsafeRawBufferPointer>) throws(MultipartError) {
        unsafe taken += Int64(bytes.count)
        try unsafe receiver?.take(UnsafeRawBufferPointer(rebasing: bytes), toCome: length.map { $0 - taken })
    }

    /// Ends the body.
    ///
    /// - Parameter connection: The connection.
    /// - Returns: Whether the connection is to stay open.
    func finish(_ connection: OpaquePointer) -> Bool {
        guard let receiver = receiver.take() else { return false }
        do {
            var parts = try receiver.finish()
            var body = Array("[".utf8)
            for index in parts.indices {
                if index > 0 { body += ",\n".utf8 }
                parts[index].part.append(to: &body, path: parts[index].path)
                // The client may take its time to read the answer, which has it.
                parts[index].part.content = nil
            }
            body += "]\n".utf8
            outcome = .stored(parts)
            return unsafe answer(connection, .json(200, body))
        } catch {
            return unsafe refuse(Refusal(error), connection, isBodyComing: false)
        }
    }

    /// Ends the exchange, whatever stage it is in.
    ///
    /// What was not stored by now will not be.
    ///
    /// - Returns: What came of the upload; nil where it was none.
    func close() -> UploadServer.Outcome? {
        let isCutOff = receiver != nil
        receiver = nil
        return isCutOff ? .aborted : outcome
    }

    // MARK: Answers

    private struct Refusal: Error {
        let status: Int
        let reason: String

        init(status: Int, reason: String) {
            self.status = status
            self.reason = reason
        }

        init(_ error: MultipartError) {
            switch error.errno {
            case ENOSPC, EDQUOT: status = 507
            case EFBIG: status = 413
            default: status = error.suggestedStatus
            }
            reason = error.description
        }
    }

    private enum Answer {
        case page
        case json(Int, [UInt8])

        static func error(_ status: Int, _ reason: String) -> Answer {
            .json(status, Array((JSONText.object([("error", JSONText.string(reason))]) + "\n").utf8))
        }

        var status: Int { if case .json(let status, _) = self { status } else { 200 } }
        var body: [UInt8] { if case .json(_, let bytes) = self { bytes } else { Array(UploadPage.html.utf8) } }

        var headers: [(name: String, value: String)] {
            let common = [("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff")]
            switch self {
            case .page:
                return common + [
                    ("Content-Type", "text/html; charset=utf-8"), ("Content-Security-Policy", UploadPage.policy),
                    ("Referrer-Policy", "no-referrer"),
                ]
            case .json(let status, _):
                return common + [("Content-Type", "application/json")]
                    + (status == 405 ? [("Allow", "GET, HEAD, POST, PUT")] : [])
            }
        }
    }

    private func refuse(_ refusal: Refusal, _ connection: OpaquePointer, isBodyComing: Bool) -> Bool {
        outcome = .refused(status: refusal.status, reason: refusal.reason)
        let answer = Answer.error(refusal.status, refusal.reason)
        // libmicrohttpd takes an answer before the body or behind it, not while it comes; and one before it is followed
        // by a reset that may overtake it. So it is sent past the library, and what still comes is thrown away.
        guard isBodyComing else { return unsafe self.answer(connection, answer) }
        let socket = unsafe sluice_mhd_socket(connection)
        // The last thing that is said here, whatever the library thinks of what still comes.
        return send(answer, socket) && shutdown(socket, Int32(SHUT_WR)) == 0
    }

    private func answer(_ connection: OpaquePointer, _ answer: Answer) -> Bool {
        let body = answer.body
        let response = unsafe sluice_mhd_response(body, body.count)
        guard let response = unsafe response else { return false }
        defer { unsafe MHD_destroy_response(response) }
        for header in answer.headers { _ = unsafe MHD_add_response_header(response, header.name, header.value) }
        // Whatever else was sent with an upload is not read as another request.
        if outcome != nil { _ = unsafe MHD_add_response_header(response, "Connection", "close") }
        return unsafe MHD_queue_response(connection, UInt32(answer.status), response) == .YES
    }

    /// Sends an answer that libmicrohttpd knows nothing of; the connection is good for nothing else afterwards.
    private func send(_ answer: Answer, _ socket: Int32) -> Bool {
        let headers = answer.headers + [("Content-Length", "\(answer.body.count)"), ("Connection", "close")]
        let lines =
            ["HTTP/1.1 \(answer.status) \(unsafe String(cString: MHD_get_reason_phrase_for(UInt32(answer.status))))"]
            + headers.map { "\($0.name): \($0.value)" } + ["", ""]
        let bytes = Array(lines.joined(separator: "\r\n").utf8) + answer.body
        // Nothing was sent before, so it fits into the socket's buffer.
        return unsafe CMicroHTTPD.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    private static func header(_ name: String, _ connection: OpaquePointer) -> String? {
        unsafe sluice_mhd_header(connection, name).map { unsafe String(cString: $0) }
    }
}
