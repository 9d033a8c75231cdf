public import Foundation
public import Sluice

/// What went wrong with an upload or download by `URLSession`.
///
/// ``code`` is for programs, ``description`` is for people and says what to do. It holds no user or password of the URL. A server's refusal of an upload is no error but a ``SessionResponse``.
public struct SessionError: Error, Sendable, CustomStringConvertible {
    /// The kinds of error; a later version may have more of them.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The kind's name, as in `couldNotConnect`.
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// The request itself is wrong, its URL, method or a header field; nothing was connected to.
        public static let invalidRequest = Code("invalidRequest")
        /// The host's name has no address.
        public static let couldNotResolve = Code("couldNotResolve")
        /// Nobody accepts connections there.
        public static let couldNotConnect = Code("couldNotConnect")
        /// The TLS handshake failed, or the server's certificate is not trusted, expired or another host's.
        public static let tls = Code("tls")
        /// The whole transfer took too long, or nothing moved for too long.
        public static let timeout = Code("timeout")
        /// The server closed or reset the connection before it had answered, or in the middle of its answer.
        public static let connectionLost = Code("connectionLost")
        /// More redirects than ``SessionOptions/Redirects/follow(limit:)`` allows.
        public static let tooManyRedirects = Code("tooManyRedirects")
        /// A redirect leads from `https` to `http`; see ``SessionOptions/allowsInsecureRedirects``.
        public static let insecureRedirect = Code("insecureRedirect")
        /// The body could not be read; see ``SessionError/bodyError``.
        public static let bodyFailed = Code("bodyFailed")
        /// The response's body is longer than the limit.
        public static let responseTooLarge = Code("responseTooLarge")
        /// A download was answered with something other than 200 to 299; see ``SessionError/response``.
        public static let unexpectedStatus = Code("unexpectedStatus")
        /// The response ended before the length that it had declared.
        public static let truncated = Code("truncated")
        /// The download's file could not be made, written or moved to its place.
        public static let fileFailed = Code("fileFailed")
        /// The task was cancelled, or nobody listens to the events any more.
        public static let cancelled = Code("cancelled")
        /// What came is not HTTP, or leads where this does not go.
        public static let protocolError = Code("protocolError")
        /// Another error of `URLSession`'s; see ``SessionError/urlError``.
        public static let other = Code("other")
    }

    /// The kind of error.
    public let code: Code
    /// What happened, and what to do about it.
    public let reason: String
    /// The URL it is about, without user and password; empty where there is none yet.
    public internal(set) var url: String
    /// The bytes of the upload's body that were handed to `URLSession` in the last attempt; 0 says that nothing of it was
    /// sent.
    public internal(set) var sentBytes: Int64 = 0
    /// What reading the body threw, for ``Code/bodyFailed``: it names the part and the path.
    public let bodyError: MultipartError?
    /// What `URLSession` said, where it did: its code and its words.
    public let urlError: URLError?
    /// The answer, for ``Code/unexpectedStatus``, with the first 64 KiB of its body.
    public internal(set) var response: SessionResponse?

    init(
        _ code: Code,
        _ reason: String,
        url: String = "",
        bodyError: MultipartError? = nil,
        urlError: URLError? = nil
    ) {
        self.code = code
        self.reason = reason
        self.url = url
        self.bodyError = bodyError
        self.urlError = urlError
    }

    /// The error in a line: the URL, what happened, and `URLSession`'s number for it where there is one.
    public var description: String {
        var text = url.isEmpty ? "" : "\(printable(url)): "
        text += reason
        if let bodyError { text += ": \(bodyError)" }
        if let urlError { text += " (NSURLErrorDomain \(urlError.errorCode))" }
        return text
    }
}

extension SessionError {
    /// `URLSession`'s error in our words.
    init(_ error: any Error, url: String) {
        guard let urlError = error as? URLError else {
            self.init(.other, printable("\(error)"), url: url)
            return
        }
        let (code, reason) = Self.meaning(of: urlError)
        // Without its URL, which has the user and the password.
        let words = [NSLocalizedDescriptionKey: urlError.localizedDescription]
        self.init(code, reason, url: url, urlError: URLError(urlError.code, userInfo: words))
    }

    /// In libcurl's words for a connection that ends before its time, with each TLS library's.
    private static let lossWords = [
        "transfer closed", "Send failure", "Recv failure", "reset by peer", "Broken pipe", "SSL_read", "SSL_write",
        "Failed sending data",
    ]
    /// In those for a handshake that fails.
    private static let handshakeWords = ["certificate", "SSL_connect", "SSL connect", "handshake", "SSL:", "TLS"]

    private static func meaning(of error: URLError) -> (Code, String) {
        // Foundation's description quotes the host and port at most.
        let words = printable(error.localizedDescription)
        return switch error.code {
        case .cannotFindHost, .dnsLookupFailed: (.couldNotResolve, "the host's name has no address: \(words)")
        case .cannotConnectToHost, .notConnectedToInternet: (.couldNotConnect, "no connection: \(words)")
        case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired:
            (.tls, "no secure connection: \(words)")
        case .timedOut: (.timeout, "nothing moved for the request's timeoutInterval")
        case .networkConnectionLost: (.connectionLost, "the connection was lost: \(words)")
        case .badURL, .unsupportedURL: (.invalidRequest, "the URL is not one that can be asked: \(words)")
        // `URLSession` on Linux has no code of its own for most of libcurl's errors, but it passes on libcurl's words.
        case .badServerResponse where words.contains("Empty reply"),
            .unknown where Self.lossWords.contains { words.contains($0) }:
            (.connectionLost, "the connection was lost: \(words)")
        case .unknown where Self.handshakeWords.contains { words.contains($0) }:
            (.tls, "no secure connection: \(words)")
        case .badServerResponse, .cannotParseResponse, .zeroByteResource, .cannotDecodeContentData,
            .cannotDecodeRawData:
            (.protocolError, "the answer cannot be understood: \(words)")
        case .httpTooManyRedirects: (.tooManyRedirects, words)
        case .cancelled: (.cancelled, "the task was cancelled")
        default: (.other, words)
        }
    }
}
