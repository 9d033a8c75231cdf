internal import CCurl
internal import Sluice

/// A checked URL: where a request goes, with the credentials taken out.
struct Endpoint {
    /// The URL without user and password.
    let url: String
    /// Whether it is `https`.
    let isSecure: Bool
    /// Whom credentials may be sent to: the scheme, the host and the port.
    let origin: String
    /// The user and the password that the URL had.
    let userInfo: (user: String, password: String)?

    /// Checks the URL of a request.
    init(_ url: String) throws(TransferError) {
        // A C string would end at a NUL, and libcurl takes other control characters in some places.
        guard !url.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw TransferError(
                .invalidRequest,
                "the URL has a control character in it; percent-encode it",
                url: Redaction.unreadableURL(url)
            )
        }
        let parsed = try ParsedURL()
        guard parsed.set(url, flags: 0) == CURLUE_OK else {
            let reason =
                parsed.set(url, flags: CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK
                ? "the URL's scheme is neither http nor https"
                : "the URL is not well-formed; it has to look like https://host/path, with spaces as %20"
            throw TransferError(.invalidRequest, reason, url: Redaction.unreadableURL(url))
        }
        try self.init(parsed, code: .invalidRequest, shown: Redaction.unreadableURL(url))
    }

    /// Where a redirect leads; its Location is often relative to this URL.
    func following(_ location: String) throws(TransferError) -> Endpoint {
        let parsed = try ParsedURL()
        guard
            !location.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }),
            parsed.set(url, flags: 0) == CURLUE_OK,
            parsed.set(location, flags: CURLU_URLENCODE | CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK
        else {
            throw TransferError(
                .protocolError,
                "the server redirects to \"\(printable(Redaction.unreadableURL(location)))\", which is no URL",
                url: url
            )
        }
        return try Endpoint(parsed, code: .protocolError, shown: url)
    }

    private init(_ parsed: ParsedURL, code: TransferError.Code, shown: String) throws(TransferError) {
        let scheme = parsed.part(CURLUPART_SCHEME).map { $0.lowercased() } ?? ""
        guard scheme == "http" || scheme == "https" else {
            throw TransferError(
                code,
                code == .protocolError
                    ? "the server redirects to the scheme \(printable(scheme)), and only http and https are followed"
                    : "the URL's scheme \(printable(scheme)) is neither http nor https",
                url: shown
            )
        }
        isSecure = scheme == "https"
        let host = parsed.part(CURLUPART_HOST) ?? ""
        let port = parsed.part(CURLUPART_PORT, flags: CURLU_DEFAULT_PORT) ?? ""
        origin = "\(scheme)://\(host.lowercased()):\(port)"

        let user = parsed.part(CURLUPART_USER, flags: CURLU_URLDECODE)
        let password = parsed.part(CURLUPART_PASSWORD, flags: CURLU_URLDECODE)
        // What is there and cannot be decoded would go out as something else.
        let isUserLost = user == nil && parsed.part(CURLUPART_USER) != nil
        let isPasswordLost = password == nil && parsed.part(CURLUPART_PASSWORD) != nil
        guard !isUserLost, !isPasswordLost else {
            throw TransferError(.invalidRequest, "the URL's user or password has a control character in it", url: shown)
        }
        userInfo = user == nil && password == nil ? nil : (user ?? "", password ?? "")
        parsed.remove(CURLUPART_USER)
        parsed.remove(CURLUPART_PASSWORD)
        parsed.remove(CURLUPART_FRAGMENT)
        guard let url = parsed.part(CURLUPART_URL) else {
            throw TransferError(.resourcesExhausted, "no memory for the URL", url: shown)
        }
        self.url = url
    }
}

/// libcurl's own parser, so that what is checked is what is connected to.
// @safe: the handle is made in `init`, freed in `deinit`, and never leaves the class.
@safe
final class ParsedURL {
    private let handle: OpaquePointer

    init() throws(TransferError) {
        guard let handle = unsafe curl_url() else {
            throw TransferError(.resourcesExhausted, "no memory for the URL")
        }
        unsafe self.handle = handle
    }

    deinit {
        unsafe curl_url_cleanup(handle)
    }

    /// Sets the whole URL, or goes from the one that is set to one relative to it.
    func set(_ url: String, flags: Int32) -> CURLUcode {
        unsafe curl_url_set(handle, CURLUPART_URL, url, UInt32(flags))
    }

    func part(_ part: CURLUPart, flags: Int32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard unsafe curl_url_get(handle, part, &text, UInt32(flags)) == CURLUE_OK, let text = unsafe text else {
            return nil
        }
        defer { unsafe curl_free(text) }
        return unsafe String(cString: text)
    }

    func remove(_ part: CURLUPart) {
        unsafe curl_url_set(handle, part, nil, 0)
    }
}
