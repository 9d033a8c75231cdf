public import Sluice

/// What went wrong with a transfer.
///
/// ``code`` is for programs, ``description`` is for people and says what to do. It holds no credentials. A server's
/// refusal is no error but a ``CurlResponse``.
public struct TransferError: Error, Sendable, CustomStringConvertible {
    /// The kinds of error; a later version may have more of them.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The kind's name, as in `couldNotConnect`.
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// The request itself is wrong, its URL, method, a header field or an option; nothing was connected to.
        public static let invalidRequest = Code("invalidRequest")
        /// The host's name, or the proxy's, has no address.
        public static let couldNotResolve = Code("couldNotResolve")
        /// Nobody accepts connections there.
        public static let couldNotConnect = Code("couldNotConnect")
        /// The TLS handshake failed, or the server's certificate is not trusted, expired or another host's.
        public static let tls = Code("tls")
        /// Connecting or the whole transfer took longer than ``CurlRequest/connectTimeout`` or ``CurlRequest/totalTimeout``.
        public static let timeout = Code("timeout")
        /// Nothing moved for ``CurlRequest/idleTimeout``.
        public static let idleTimeout = Code("idleTimeout")
        /// A redirect leads from `https` to `http`; see ``CurlRequest/allowsInsecureRedirects``.
        public static let insecureRedirect = Code("insecureRedirect")
        /// The server answered a download to a file with something else than the file; see ``TransferError/response``.
        public static let unexpectedStatus = Code("unexpectedStatus")
        /// What came is not what it should be: another length, or another checksum.
        public static let contentMismatch = Code("contentMismatch")
        /// The file could not be written, or put in its place; see ``TransferError/path``.
        public static let fileFailed = Code("fileFailed")
        /// Another download is writing the same file.
        public static let fileInUse = Code("fileInUse")
        /// The server closed or reset the connection before it had answered.
        public static let connectionLost = Code("connectionLost")
        /// More redirects than ``CurlRequest/Redirects/follow(limit:)`` allows.
        public static let tooManyRedirects = Code("tooManyRedirects")
        /// The body has to be sent again, and a part of it can be read only once.
        public static let bodyNotReplayable = Code("bodyNotReplayable")
        /// The body could not be read; see ``TransferError/bodyError``.
        public static let bodyFailed = Code("bodyFailed")
        /// The response's body is longer than ``CurlRequest/responseBodyLimit``.
        public static let responseTooLarge = Code("responseTooLarge")
        /// The task was cancelled.
        public static let cancelled = Code("cancelled")
        /// The client was closed.
        public static let clientClosed = Code("clientClosed")
        /// What came is not HTTP, or leads where the client does not go.
        public static let protocolError = Code("protocolError")
        /// The system has no thread, memory or descriptor to give.
        public static let resourcesExhausted = Code("resourcesExhausted")
        /// Another error of libcurl's; see ``TransferError/curlCode``.
        public static let other = Code("other")
    }

    /// The kind of error.
    public let code: Code
    /// What happened, and what to do about it.
    public let reason: String
    /// The URL it is about, without user and password; empty where there is none yet.
    public let url: String
    /// libcurl's number for it (`CURLcode`), where libcurl said so.
    public let curlCode: Int32?
    /// The bytes of the body that were handed over in the last attempt; 0 says that nothing of it was sent.
    public let sentBytes: Int64
    /// What reading the body threw, for ``Code/bodyFailed``: it names the part and the path.
    public let bodyError: MultipartError?
    /// The server's answer, for ``Code/unexpectedStatus``; its body is cut where it is long.
    public let response: CurlResponse?
    /// The file that a download could not write.
    public let path: String?
    /// The system's number for what went wrong with the file.
    public let errno: Int32?

    init(
        _ code: Code,
        _ reason: String,
        url: String = "",
        curlCode: Int32? = nil,
        sentBytes: Int64 = 0,
        bodyError: MultipartError? = nil,
        response: CurlResponse? = nil,
        path: String? = nil,
        errno: Int32? = nil
    ) {
        self.code = code
        self.reason = reason
        self.url = url
        self.curlCode = curlCode
        self.sentBytes = sentBytes
        self.bodyError = bodyError
        self.response = response
        self.path = path
        self.errno = errno
    }

    /// The same error with more to say.
    func adding(_ words: String, url other: String? = nil) -> TransferError {
        TransferError(
            code,
            reason + words,
            url: other ?? url,
            curlCode: curlCode,
            sentBytes: sentBytes,
            bodyError: bodyError,
            response: response,
            path: path,
            errno: errno
        )
    }

    /// The error in a line: the URL, what happened, and libcurl's number where there is one.
    public var description: String {
        var text = url.isEmpty ? "" : "\(printable(url)): "
        if let path { text += "\(printable(path)): " }
        text += reason
        if let bodyError { text += ": \(bodyError)" }
        if let curlCode { text += " (curl \(curlCode))" }
        return text
    }
}
