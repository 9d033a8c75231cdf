internal import Foundation
internal import Sluice

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// One HTTP request of a transfer: the first, or one that a redirect or a challenge asks for.
struct SessionHop {
    /// The request, without a body and all that says how one is sent.
    private(set) var request: URLRequest
    /// Where it goes.
    private(set) var url: URL
    /// Whether the body goes with it; not after a redirect that turns it into a `GET`.
    private(set) var sendsBody: Bool
    private(set) var redirectCount = 0
    private let redirects: SessionOptions.Redirects
    private let allowsInsecureRedirects: Bool
    private let canRepeat: Bool
    /// Whether a credential was tried at this URL already.
    private var hasAnswered = false

    private static let secretFields = ["Authorization", "Proxy-Authorization", "Cookie", "Host"]
    private static let bodyFields = [
        "Content-Length", "Transfer-Encoding", "Content-Type", "Content-Encoding", "Content-Language",
        "Content-Location", "Expect",
    ]

    /// Checks the request.
    ///
    /// - Parameters:
    ///   - request: As the caller made it.
    ///   - inherited: The session's own header fields, which the request's go before.
    ///   - body: What goes with it.
    ///   - options: Whether to follow redirects.
    /// - Throws: ``SessionError/Code/invalidRequest``.
    init(
        _ request: URLRequest,
        inheriting inherited: [String: String],
        body: MultipartBody?,
        options: SessionOptions
    ) throws(SessionError) {
        self.request = request
        redirects = options.redirects
        allowsInsecureRedirects = options.allowsInsecureRedirects
        sendsBody = body != nil
        canRepeat = body.map { $0.replay != .once } ?? true
        guard let url = request.url else { throw SessionError(.invalidRequest, "the request has no URL") }
        self.url = url
        func refuse(_ reason: String) -> SessionError { SessionError(.invalidRequest, reason, url: url.shown) }

        // `URLSession` on Linux traps on a scheme that it does not know.
        guard url.isHTTP else { throw refuse("the URL has to look like https://host/path") }
        if case .follow(let limit) = redirects, limit < 0 { throw refuse("the limit of redirects is negative") }
        let method = request.httpMethod ?? "GET"
        guard HeaderGrammar.isToken(method) else {
            throw refuse("the method \"\(printable(method))\" is not a token, like POST or PUT")
        }
        if body != nil, ["HEAD", "CONNECT", "TRACE"].contains(method.uppercased()) {
            throw refuse("a \(method) request carries no body; use POST, PUT or PATCH")
        }
        for (name, value) in inherited where self.request.value(forHTTPHeaderField: name) == nil {
            self.request.setValue(value, forHTTPHeaderField: name)
        }
        for (name, value) in self.request.allHTTPHeaderFields ?? [:] {
            guard HeaderGrammar.isToken(name), HeaderGrammar.isFieldValue(value) else {
                throw refuse(
                    "the header field \"\(printable(name))\" is not a token, or its value has a CR, LF or NUL in it"
                )
            }
        }
        self.request.httpBody = nil
        self.request.httpBodyStream = nil
        if body != nil, method == "GET" { self.request.httpMethod = "POST" }
        for field in ["Content-Length", "Transfer-Encoding"] {
            self.request.setValue(nil, forHTTPHeaderField: field)
        }
    }

    var method: String { request.httpMethod ?? "GET" }

    /// Whether an answer with this status and Location leads to a further request.
    func follows(_ head: ResponseHead) -> Bool {
        guard case .follow = redirects, head.headers.value(ofField: "Location") != nil else { return false }
        return switch head.status {
        case 301, 302, 303: keepsBody(head.status) ? canRepeat : true
        case 307, 308: !sendsBody || canRepeat
        default: false
        }
    }

    private func keepsBody(_ status: Int) -> Bool { sendsBody && method(after: status) == method }

    /// RFC 9110 sections 15.4.2 to 15.4.4, with what every client makes of 301 and 302.
    private func method(after status: Int) -> String {
        let becomesGet = status == 303 ? method != "HEAD" : (status == 301 || status == 302) && method == "POST"
        return becomesGet ? "GET" : method
    }

    /// The request that the answer asks for; nil where it is the final one.
    func following(_ answer: Answer) throws(SessionError) -> SessionHop? {
        if let authorization = answer.authorization { return answering(authorization) }
        guard follows(answer.head), case .follow(let limit) = redirects else { return nil }
        guard redirectCount < limit else {
            throw SessionError(
                .tooManyRedirects,
                "more than \(limit) redirects; see SessionOptions.redirects",
                url: url.shown
            )
        }
        let location = answer.head.headers.value(ofField: "Location") ?? ""
        guard let target = URL(string: location, relativeTo: url)?.absoluteURL, target.isHTTP else {
            let shown = printable(URL(string: location)?.shown ?? location)
            throw SessionError(
                .protocolError,
                "the server redirects to \"\(shown)\", which is no http URL",
                url: url.shown
            )
        }
        guard allowsInsecureRedirects || !url.isSecure || target.isSecure else {
            throw SessionError(
                .insecureRedirect,
                "the server redirects from https to \(printable(target.shown)), where all could be read on the way; "
                    + "use that URL, or set SessionOptions.allowsInsecureRedirects, if that does not matter",
                url: url.shown
            )
        }
        var next = self
        next.redirectCount += 1
        next.hasAnswered = false
        next.url = target
        next.request.url = target
        if target.origin != url.origin { next.drop(Self.secretFields) }
        if !keepsBody(answer.head.status), answer.head.status < 307 {
            next.request.httpMethod = method(after: answer.head.status)
            next.sendsBody = false
            next.drop(Self.bodyFields)
        }
        return next
    }

    /// The same request with a credential, once.
    private func answering(_ authorization: String) -> SessionHop? {
        guard !hasAnswered, !sendsBody || canRepeat else { return nil }
        var next = self
        next.hasAnswered = true
        next.request.setValue(authorization, forHTTPHeaderField: "Authorization")
        return next
    }

    private mutating func drop(_ fields: [String]) {
        for field in fields { request.setValue(nil, forHTTPHeaderField: field) }
    }
}

extension URL {
    /// Whether it is one for HTTP, and says whose.
    fileprivate var isHTTP: Bool {
        ["http", "https"].contains(scheme?.lowercased()) && host?.isEmpty == false
    }

    fileprivate var isSecure: Bool { scheme?.lowercased() == "https" }

    /// Whom credentials may be sent to.
    fileprivate var origin: String {
        let scheme = scheme?.lowercased() ?? ""
        return "\(scheme)://\(host?.lowercased() ?? ""):\(port ?? (scheme == "https" ? 443 : 80))"
    }

    /// The URL without user and password.
    var shown: String {
        guard user != nil || password != nil else { return absoluteString }
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return "" }
        components.user = nil
        components.password = nil
        return components.string ?? ""
    }
}
