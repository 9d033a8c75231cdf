internal import Sluice

/// What is asked of a server: method, URL, header fields, and how the transfer is to behave.
///
/// A request is a value and knows nothing of the body, which is given beside it. Everything that is not checked when
/// it is set is checked when the transfer begins, before a connection is made.
///
/// ```swift
/// var request = CurlRequest("PUT", url: "https://example.com/files")
/// try request.addHeader("X-Upload-Token", "b2c9")
/// request.authentication = .bearer(token)
/// request.totalTimeout = .seconds(3600)
/// ```
public struct CurlRequest: Sendable {
    /// The method, a token such as `PUT` or `PATCH`; nil for `POST` where a body is sent, and for `GET` where none is.
    ///
    /// `HEAD`, `CONNECT` and `TRACE` carry no body and are refused for uploads. A download is asked for with `GET`; with
    /// `HEAD` only where the answer goes to memory.
    public var method: String?
    /// The URL, `http` or `https`.
    ///
    /// User and password in it are used as ``CurlRequest/Authentication/basic(user:password:)`` unless ``authentication`` is set;
    /// they show up in no error, response or debug line.
    public var url: String
    /// The header fields that were added, in order.
    public private(set) var headers: [(name: String, value: String)] = []
    /// Who asks.
    ///
    /// Sent to the URL's own origin only: a redirect to another scheme, host or port drops it.
    public var authentication: Authentication?
    /// How the server's certificate is checked.
    public var tls = TLSOptions()
    /// Whether redirects are followed.
    public var redirects = Redirects.follow(limit: 10)
    /// Whether a redirect may lead from `https` to `http`, where everybody on the way can read and change what is sent.
    ///
    /// Otherwise such a redirect is ``TransferError/Code/insecureRedirect``.
    public var allowsInsecureRedirects = false
    /// What is tried again; nothing unless asked for.
    public var retry = RetryPolicy.never
    /// The version of HTTP.
    public var httpVersion = HTTPVersion.automatic
    /// The proxy to go through.
    public var proxy = Proxy.environment
    /// The path of a unix socket to connect to, whatever the URL's host and port are; nil for TCP.
    ///
    /// The host still goes into the `Host` field, and redirects stay on the socket. No proxy is used.
    public var unixSocket: String?
    /// The most bytes a second to send, on average; nil for no limit.
    public var uploadRateLimit: Int?
    /// The most bytes a second to receive, on average; nil for no limit.
    public var downloadRateLimit: Int?
    /// Whether the server is asked before the body is sent.
    public var expectContinue = ExpectContinue.automatic
    /// The longest that resolving the host's name, connecting and the TLS handshake may take together, for each
    /// connection; nil is libcurl's own limit of five minutes.
    public var connectTimeout: Duration? = .seconds(30)
    /// The longest that the whole transfer may take, redirects, retries and the waits between them included; nil for as long as it needs, which is
    /// the default because a large body's time is nobody's guess.
    public var totalTimeout: Duration?
    /// The longest in which not one byte moves either way, the TLS handshake, a server's thinking and a slow source's
    /// waiting included; nil for no limit.
    ///
    /// The time in which a download waits for whoever takes its bytes does not count.
    public var idleTimeout: Duration? = .seconds(120)
    /// The most bytes of a response's body that are kept in memory; a longer one is ``TransferError/Code/responseTooLarge``.
    public var responseBodyLimit = 1024 * 1024
    /// The bytes that are handed to the network at a time, cut to libcurl's 16 KiB...2 MiB.
    ///
    /// More than 512 KiB gains little; it is all the memory that an upload of any size takes. Many uploads at a time get
    /// smaller buffers, 64 MiB for all together.
    public var uploadBufferSize = 512 * 1024
    /// Called with what goes on, on the client's event loop, so it should return soon.
    ///
    /// Header fields are shown without the values of `Authorization`, `Proxy-Authorization`, `Cookie` and `Set-Cookie`;
    /// bytes of bodies are never shown.
    public var debug: (@Sendable (DebugLine) -> Void)?

    /// Makes a request with every option at its default.
    ///
    /// - Parameters:
    ///   - method: The method; nil for `POST` with a body and `GET` without.
    ///   - url: The URL.
    public init(_ method: String? = nil, url: String) {
        self.method = method
        self.url = url
    }

    /// Adds a header field.
    ///
    /// `Content-Type` replaces the body's own; a field that libcurl would send by itself, such as `Accept`, `Host` or
    /// `User-Agent`, is sent with the value given here. `Authorization`, `Cookie` and `Host` are not sent to another
    /// origin that a redirect leads to.
    ///
    /// - Parameters:
    ///   - name: A token.
    ///   - value: Any text without CR, LF and NUL, sent as UTF-8.
    /// - Throws: ``TransferError/Code/invalidRequest`` for anything else, so that nothing can be injected; and for
    ///   `Content-Length` and `Transfer-Encoding`, which follow from the body; and for a second `Host` or
    ///   `Content-Type`, of which a request has one.
    public mutating func addHeader(_ name: String, _ value: String) throws(TransferError) {
        guard HeaderGrammar.isToken(name) else {
            throw TransferError(
                .invalidRequest,
                "the header name \"\(printable(name))\" is not a token: letters, digits and !#$%&'*+-.^_`|~ only"
            )
        }
        guard HeaderGrammar.isFieldValue(value) else {
            throw TransferError(.invalidRequest, "the value of the header \(name) has a CR, LF or NUL in it")
        }
        guard !["content-length", "transfer-encoding"].contains(name.lowercased()) else {
            throw TransferError(.invalidRequest, "\(name) follows from the body; do not add it")
        }
        guard !["host", "content-type"].contains(name.lowercased()) || !hasHeader(name) else {
            throw TransferError(.invalidRequest, "there is a header \(name) already, and a request has one of it")
        }
        headers.append((name, value))
    }

    /// Whether a field of this name was added.
    func hasHeader(_ name: String) -> Bool {
        let name = name.lowercased()
        return headers.contains { $0.name.lowercased() == name }
    }
}

extension CurlRequest: CustomStringConvertible, CustomReflectable {
    /// The method and the URL, without user, password and header fields.
    public var description: String {
        (method.map { "\(printable($0)) " } ?? "") + printable(Redaction.url(url))
    }

    /// The ``description`` only, so that a dump shows no credentials either.
    public var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}
