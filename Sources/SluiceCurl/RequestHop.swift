internal import CCurl
internal import Sluice

/// One HTTP request of a transfer: the first, or one that a redirect asks for.
struct RequestHop {
    private let request: CurlRequest
    private let userAgent: String
    private let authentication: CurlRequest.Authentication?

    /// Where it goes.
    private(set) var endpoint: Endpoint
    /// How it asks.
    private(set) var method: String
    /// Whether the body goes with it; not after a redirect that turns it into a `GET`.
    private(set) var sendsBody: Bool
    /// Whether the answer's bytes may have to wait for whoever takes them.
    private let canPause: Bool
    private let isFile: Bool
    private let proxy: ProxySettings
    /// Whether all hops so far had one origin; once they have not, whoever is asked may be anybody's choice.
    private var isTrusted = true

    /// Checks the request.
    init(_ request: CurlRequest, for work: TransferTicket.Work, userAgent: String) throws(TransferError) {
        self.request = request
        self.userAgent = userAgent
        endpoint = try Endpoint(request.url)
        let url = endpoint.url
        func refuse(_ reason: String) -> TransferError { TransferError(.invalidRequest, reason, url: url) }

        if case .upload = work { sendsBody = true } else { sendsBody = false }
        method = request.method ?? (sendsBody ? "POST" : "GET")
        guard HeaderGrammar.isToken(method) else {
            throw refuse("the method \"\(printable(method))\" is not a token, like POST or PUT")
        }
        switch work {
        case .upload where ["HEAD", "CONNECT", "TRACE"].contains(method.uppercased()):
            throw refuse("a \(method) request carries no body; use POST, PUT or PATCH")
        case .memory where method != "GET" && method != "HEAD":
            throw refuse("a download asks with GET or HEAD, not with \(method)")
        case .chunks where method != "GET", .file where method != "GET":
            throw refuse("a download asks with GET, not with \(method)")
        case .file where request.hasHeader("Range") || request.hasHeader("If-Range"):
            throw refuse("what to ask for follows from the file; do not add Range or If-Range")
        default: break
        }
        isFile = if case .file = work { true } else { false }
        canPause = if case .chunks = work { true } else { isFile }
        guard HeaderGrammar.isFieldValue(userAgent) else { throw refuse("the user agent has a CR, LF or NUL in it") }
        if let flaw = request.tls.flaw ?? request.networkFlaw ?? request.retry.flaw { throw refuse(flaw) }
        proxy = try ProxySettings(request.proxy)
        guard request.responseBodyLimit >= 0 else { throw refuse("the limit of the response's body is negative") }
        if case .follow(let limit) = request.redirects, limit < 0 { throw refuse("the limit of redirects is negative") }
        authentication =
            request.authentication ?? endpoint.userInfo.map { .basic(user: $0.user, password: $0.password) }
        if let flaw = authentication?.flaw { throw refuse(flaw) }
    }

    /// The request that a redirect of this status asks for.
    func following(_ location: String, status: Int) throws(TransferError) -> RequestHop {
        var next = self
        next.endpoint = try endpoint.following(location)
        guard request.allowsInsecureRedirects || !endpoint.isSecure || next.endpoint.isSecure else {
            throw TransferError(
                .insecureRedirect,
                "the server redirects from https to \(next.endpoint.url), where all could be read on the way; "
                    + "use that URL, or set allowsInsecureRedirects, if that does not matter",
                url: endpoint.url
            )
        }
        next.isTrusted = isTrusted && next.endpoint.origin == endpoint.origin
        // RFC 9110 sections 15.4.2 to 15.4.4, with what every client makes of 301 and 302.
        let becomesGet = status == 303 ? method != "GET" : (status == 301 || status == 302) && method == "POST"
        if becomesGet {
            // A HEAD stays what it is.
            next.method = method == "HEAD" ? "HEAD" : "GET"
            next.sendsBody = false
        }
        return next
    }

    /// The size of libcurl's upload buffer for a body of this length, within this share of the memory for all of them.
    func bufferSize(for length: Int64?, share: Int = .max) -> Int {
        var size = min(request.uploadBufferSize, share)
        if let length { size = min(size, Int(clamping: length)) }
        // Else a second's worth would go out at once, and then nothing for long.
        if let limit = request.uploadRateLimit { size = min(size, limit) }
        return min(max(size, 16 * 1024), 2 * 1024 * 1024)
    }

    /// The most times that a challenge may make libcurl send a request again.
    private static let mostRestarts = 5

    /// Whether the connection may turn out to be one of HTTP/2.
    var maySpeakHTTP2: Bool {
        switch request.httpVersion {
        case .automatic: endpoint.isSecure
        case .http1_1: false
        case .http2, .http2PriorKnowledge: true
        }
    }

    /// Whether libcurl asks again by itself when it is refused.
    var answersChallenges: Bool {
        isTrusted && (authentication.map { [.digest, .any].contains($0.scheme) } ?? false)
    }

    // MARK: Options

    /// Sets every option of a fresh handle but the callbacks.
    ///
    /// - Parameters:
    ///   - handle: The handle.
    ///   - body: The body, where one is sent.
    ///   - point: Where a download goes on.
    ///   - share: The most bytes of memory for its upload buffer.
    /// - Throws: Where libcurl refuses an option.
    func configure(
        _ handle: EasyHandle,
        for body: MultipartBody?,
        from point: ResumePoint?,
        share: Int
    ) throws(TransferError) {
        try handle.set(CURLOPT_URL, endpoint.url)
        unsafe try handle.check(sluice_restrict_protocols(handle.pointer), CURLOPT_PROTOCOLS)
        unsafe try handle.check(sluice_close_sockets_on_exec(handle.pointer), CURLOPT_OPENSOCKETFUNCTION)
        unsafe sluice_do_not_wait_for_resolver(handle.pointer)
        // Timeouts without SIGALRM, which belongs to the program.
        try handle.set(CURLOPT_NOSIGNAL, true)
        try handle.set(CURLOPT_USERAGENT, userAgent)
        // Redirects are not followed by libcurl; answers to challenges count as well, each with the whole body.
        try handle.set(CURLOPT_MAXREDIRS, Self.mostRestarts)
        // A proxy's answer to CONNECT is the proxy's, and not to be taken for the server's behind it.
        try handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, true)
        // A server may think for minutes about what it got; firewalls forget connections that are silent so long.
        try handle.set(CURLOPT_TCP_KEEPALIVE, true)
        if let limit = request.connectTimeout {
            try handle.set(CURLOPT_CONNECTTIMEOUT_MS, max(Int(min(limit, .seconds(1_000_000)) / .milliseconds(1)), 1))
        }
        try configureVersion(handle)
        try configureRoute(handle)
        try configureRates(handle)
        try configureMethod(handle, body, share: share)
        try handle.setHeaders(headerLines(body, from: point))
        try configureTLS(handle)
        if isTrusted, let authentication { try authentication.configure(handle) }
    }

    private func configureVersion(_ handle: EasyHandle) throws(TransferError) {
        switch request.httpVersion {
        case .automatic:
            // Over TLS where the server offers it. A libcurl without HTTP/2 refuses the option, and needs none.
            try? handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        case .http1_1: try handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        case .http2: try handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2_0))
        case .http2PriorKnowledge:
            try handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE))
            // libcurl 7.88 begins HTTP/2 anew on a connection that it has kept, which no server understands
            // (curl/curl#10634); with TLS it is the handshake that says what is spoken.
            if !endpoint.isSecure, (0x07_58_00..<0x08_00_00).contains(CurlLibrary.version) {
                try handle.set(CURLOPT_FRESH_CONNECT, true)
                try handle.set(CURLOPT_FORBID_REUSE, true)
            }
        }
        // Transfers that begin together wait for the first one's TLS handshake, which says whether they can share the
        // connection. Without TLS they would wait for its answer, which may take as long as an upload does.
        try handle.set(CURLOPT_PIPEWAIT, endpoint.isSecure && maySpeakHTTP2)
    }

    private func configureRoute(_ handle: EasyHandle) throws(TransferError) {
        if let path = request.unixSocket {
            try handle.set(CURLOPT_UNIX_SOCKET_PATH, path)
            return try ProxySettings.none.configure(handle, tls: request.tls)
        }
        try proxy.configure(handle, tls: request.tls)
    }

    private func configureRates(_ handle: EasyHandle) throws(TransferError) {
        if let limit = request.uploadRateLimit {
            try handle.set(CURLOPT_MAX_SEND_SPEED_LARGE, offset: Int64(limit))
        }
        var receiveBuffer = canPause || !sendsBody ? 256 * 1024 : 16 * 1024
        if let limit = request.downloadRateLimit {
            try handle.set(CURLOPT_MAX_RECV_SPEED_LARGE, offset: Int64(limit))
            // libcurl fills its buffer up to a hundred times before it looks at the clock: half a second's worth.
            receiveBuffer = min(receiveBuffer, max(limit / 200, 1024))
        }
        try handle.set(CURLOPT_BUFFERSIZE, receiveBuffer)
    }

    private func configureMethod(
        _ handle: EasyHandle,
        _ body: MultipartBody?,
        share: Int
    ) throws(TransferError) {
        guard sendsBody, let body else {
            return try handle.set(method == "HEAD" ? CURLOPT_NOBODY : CURLOPT_HTTPGET, true)
        }
        let length = body.contentLength
        try handle.set(CURLOPT_UPLOAD_BUFFERSIZE, bufferSize(for: length, share: share))
        // -1 makes libcurl use chunked coding in HTTP/1.1, and end the stream in HTTP/2.
        if method == "PUT" {
            try handle.set(CURLOPT_UPLOAD, true)
            try handle.set(CURLOPT_INFILESIZE_LARGE, offset: length ?? -1)
        } else {
            try handle.set(CURLOPT_POST, true)
            try handle.set(CURLOPT_POSTFIELDSIZE_LARGE, offset: length ?? -1)
            if method != "POST" { try handle.set(CURLOPT_CUSTOMREQUEST, method) }
        }
    }

    private func headerLines(_ body: MultipartBody?, from point: ResumePoint?) -> [String] {
        var dropped: Set<String> = []
        if !isTrusted { dropped.formUnion(["authorization", "proxy-authorization", "cookie", "host"]) }
        if !sendsBody {
            dropped.formUnion(["content-type", "content-encoding", "content-language", "content-location", "expect"])
        }
        // What is asked for now is the rest of what came of them.
        if point != nil { dropped.formUnion(["range", "if-range"]) }
        let kept = request.headers.filter { !dropped.contains($0.name.lowercased()) }
        // A line that ends in a semicolon is how libcurl is told of an empty value.
        var lines = kept.map { header in
            header.value.allSatisfy { $0 == " " || $0 == "\t" } ? "\(header.name);" : "\(header.name): \(header.value)"
        }
        if let point {
            lines.append("Range: bytes=\(point.offset)-")
            lines.append("If-Range: \(point.validator.value)")
        }
        guard sendsBody else { return lines }
        func isGiven(_ name: String) -> Bool { kept.contains { $0.name.lowercased() == name } }
        if let body, !isGiven("content-type") { lines.append("Content-Type: \(body.contentType)") }
        if !isGiven("expect") {
            switch request.expectContinue {
            // With a PUT libcurl asks before a body of any size.
            case .automatic:
                if method == "PUT", let length = body?.contentLength, length <= 1 << 20 { lines.append("Expect:") }
            case .always: lines.append("Expect: 100-continue")
            // A line without a value is how libcurl is told to send none.
            case .never: lines.append("Expect:")
            }
        }
        return lines
    }

    private func configureTLS(_ handle: EasyHandle) throws(TransferError) {
        let tls = request.tls
        if let caFile = tls.caFile { try handle.set(CURLOPT_CAINFO, caFile) }
        let version = tls.minimumVersion == .v1_3 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2
        try handle.set(CURLOPT_SSLVERSION, Int(version))
        if tls.verification == .disabled {
            try handle.set(CURLOPT_SSL_VERIFYPEER, false)
            try handle.set(CURLOPT_SSL_VERIFYHOST, 0)
        }
        // Who the client is concerns the origin alone, as its password does.
        guard isTrusted, let certificate = tls.clientCertificate else { return }
        try handle.set(CURLOPT_SSLCERT, certificate.certificateFile)
        try handle.set(CURLOPT_SSLCERTTYPE, certificate.isPKCS12 ? "P12" : "PEM")
        if let keyFile = certificate.keyFile { try handle.set(CURLOPT_SSLKEY, keyFile) }
        if let passphrase = certificate.passphrase { try handle.set(CURLOPT_KEYPASSWD, passphrase) }
    }
}

extension CurlRequest.Authentication {
    /// What makes the credentials impossible to send, or possible to inject with.
    fileprivate var flaw: String? {
        let isControl = { (byte: UInt8) in byte < 0x20 || byte == 0x7F }
        if user.utf8.contains(where: isControl) || secret.utf8.contains(where: isControl) {
            return "the credentials have a control character in them"
        }
        switch scheme {
        case .basic where user.utf8.contains(UInt8(ascii: ":")):
            return "a user of Basic authentication has no colon (RFC 7617 section 2)"
        case .bearer where secret.isEmpty || secret.utf8.contains(0x20):
            return "the bearer token is empty or has a space in it"
        default: return nil
        }
    }

    fileprivate func configure(_ handle: EasyHandle) throws(TransferError) {
        switch scheme {
        case .bearer:
            try handle.set(CURLOPT_HTTPAUTH, sluice_auth_bearer())
            try handle.set(CURLOPT_XOAUTH2_BEARER, secret)
            return
        case .basic: try handle.set(CURLOPT_HTTPAUTH, sluice_auth_basic())
        case .digest: try handle.set(CURLOPT_HTTPAUTH, sluice_auth_digest())
        // Two schemes: libcurl waits for the server's choice.
        case .any: try handle.set(CURLOPT_HTTPAUTH, sluice_auth_basic() | sluice_auth_digest())
        }
        try handle.set(CURLOPT_USERNAME, user)
        try handle.set(CURLOPT_PASSWORD, secret)
    }
}
