internal import CCurl
internal import Sluice

/// A checked proxy, with the credentials taken out of its URL.
struct ProxySettings {
    /// The URL; nil for what the environment says, and empty for none.
    private let url: String?
    private let credentials: (user: String, password: String)?
    private let bypassedHosts: String?

    static let none = ProxySettings(url: "")

    private init(url: String?, bypassedHosts: String? = nil) {
        self.url = url
        credentials = nil
        self.bypassedHosts = bypassedHosts
    }

    /// Checks a proxy.
    init(_ proxy: CurlRequest.Proxy) throws(TransferError) {
        switch proxy.kind {
        case .environment where proxy.replacesExceptions:
            try Self.check(proxy.bypassedHosts)
            self.init(url: nil, bypassedHosts: proxy.bypassedHosts.joined(separator: ","))
        case .environment: self.init(url: nil)
        case .none: self.init(url: "")
        case .url(let url): try self.init(url, proxy)
        }
    }

    private init(_ url: String, _ proxy: CurlRequest.Proxy) throws(TransferError) {
        let shown = "the proxy \(printable(Redaction.unreadableURL(url)))"
        let parsed = try ParsedURL()
        // As everywhere else, a proxy without a scheme is an HTTP proxy.
        let whole = url.utf8.drop { $0 != UInt8(ascii: ":") }.starts(with: "://".utf8) ? url : "http://\(url)"
        guard !url.isEmpty, !url.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }),
            parsed.set(whole, flags: CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK
        else {
            throw TransferError(.invalidRequest, "\(shown) is not well-formed; it has to look like http://host:3128")
        }
        guard let scheme = parsed.part(CURLUPART_SCHEME), ["http", "https", "socks5", "socks5h"].contains(scheme) else {
            throw TransferError(
                .invalidRequest,
                "\(shown) is of a kind that is not known: http, https, socks5, socks5h"
            )
        }
        let found = (user: parsed.part(CURLUPART_USER), password: parsed.part(CURLUPART_PASSWORD))
        let user = proxy.user ?? parsed.part(CURLUPART_USER, flags: CURLU_URLDECODE)
        let password = proxy.user == nil ? parsed.part(CURLUPART_PASSWORD, flags: CURLU_URLDECODE) : proxy.password
        // What is there and cannot be decoded would go out as something else.
        guard proxy.user != nil || (found.user == nil) == (user == nil) && (found.password == nil) == (password == nil)
        else { throw TransferError(.invalidRequest, "the proxy's user or password has a control character in it") }
        parsed.remove(CURLUPART_USER)
        parsed.remove(CURLUPART_PASSWORD)
        for text in [user, password].compactMap(\.self)
        where text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
            throw TransferError(.invalidRequest, "the proxy's user or password has a control character in it")
        }
        guard user?.utf8.contains(UInt8(ascii: ":")) != true else {
            throw TransferError(.invalidRequest, "a proxy's user has no colon (RFC 7617 section 2)")
        }
        try Self.check(proxy.bypassedHosts)
        self.url = parsed.part(CURLUPART_URL)
        credentials = user == nil && password == nil ? nil : (user ?? "", password ?? "")
        bypassedHosts = proxy.bypassedHosts.joined(separator: ",")
    }

    private static func check(_ bypassedHosts: [String]) throws(TransferError) {
        for host in bypassedHosts
        where host.isEmpty || host.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F || $0 == UInt8(ascii: ",") }) {
            throw TransferError(.invalidRequest, "\"\(printable(host))\" is no host that a proxy could be left out for")
        }
    }

    func configure(_ handle: EasyHandle, tls: CurlRequest.TLSOptions) throws(TransferError) {
        guard let url else {
            if let bypassedHosts { try handle.set(CURLOPT_NOPROXY, bypassedHosts) }
            return try configureTLS(handle, tls)
        }
        try handle.set(CURLOPT_PROXY, url)
        if url.isEmpty { return }
        // Else the environment's exceptions would count.
        try handle.set(CURLOPT_NOPROXY, bypassedHosts ?? "")
        if let credentials {
            try handle.set(CURLOPT_PROXYAUTH, sluice_auth_basic())
            try handle.set(CURLOPT_PROXYUSERNAME, credentials.user)
            try handle.set(CURLOPT_PROXYPASSWORD, credentials.password)
        }
        try configureTLS(handle, tls)
    }

    /// The proxy's own certificate is always checked.
    private func configureTLS(_ handle: EasyHandle, _ tls: CurlRequest.TLSOptions) throws(TransferError) {
        // Without HTTPS proxies libcurl has no such options, and no use for them.
        if let caFile = tls.caFile { try? handle.set(CURLOPT_PROXY_CAINFO, caFile) }
        try? handle.set(CURLOPT_PROXY_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    }
}
