import Sluice
import SluiceCurl

/// What the options say about a request and the way to its server, checked as far as that takes no network and no
/// files.
struct RequestOptions: Sendable {
    private var request: CurlRequest
    private var user: String?
    private var token: String?
    private var scheme: Option?
    private var followsRedirects = false
    private var redirectLimit = 50
    private var proxy: String?
    private var proxyUser: String?
    private var bypassedHosts: [String]?
    private var certificate: String?
    private var key: String?
    private var passphrase: String?
    private var retry = RetryPolicy.never

    /// How the request asks; nil where no option says so.
    var method: String? { request.method }

    /// Begins with a URL.
    ///
    /// - Parameters:
    ///   - url: The URL; without a scheme it is one of HTTP, as it is to curl.
    ///   - responseLimit: The longest answer that is kept in memory, unless an option says otherwise.
    init(url: String, responseLimit: Int = 1 << 20) {
        let hasScheme = url.utf8.drop { $0 != UInt8(ascii: ":") }.starts(with: "://".utf8)
        request = CurlRequest(url: hasScheme ? url : "http://\(url)")
        // As curl does, so that what works with it needs no more here.
        request.connectTimeout = nil
        request.idleTimeout = nil
        request.responseBodyLimit = responseLimit
        // What curl tries again; the transport does so for methods that make no difference when they are repeated.
        retry.idempotentStatuses = [500, 502, 504]
    }

    /// Takes an option if it is one of requests.
    ///
    /// - Parameter given: The option and its value.
    /// - Returns: Whether it was.
    /// - Throws: A usage error for a value that is none of the option's.
    mutating func take(_ given: ParsedArguments.Given) throws(ToolError) -> Bool {
        switch given.option {
        case .request: request.method = given.value
        case .header: try takeHeader(given.value)
        case .user: user = given.value
        case .digest, .anyAuth: scheme = given.option
        case .bearer, .oauth2Bearer: token = given.value
        case .location: followsRedirects = true
        case .maxRedirects:
            redirectLimit = given.value == "-1" ? .max : try given.number(in: 0...Int(Int32.max))
        case .allowInsecureRedirects: request.allowsInsecureRedirects = true
        case .maxTime: request.totalTimeout = try given.seconds()
        case .connectTimeout: request.connectTimeout = try given.seconds()
        case .idleTimeout: request.idleTimeout = try given.seconds()
        case .maxResponse: request.responseBodyLimit = try given.bytes()
        case .limitRate:
            let limit = try given.bytes()
            request.uploadRateLimit = limit == 0 ? nil : limit
            request.downloadRateLimit = request.uploadRateLimit
        default:
            if try takeRetry(given) { return true }
            return try takeConnection(given)
        }
        return true
    }

    private mutating func takeRetry(_ given: ParsedArguments.Given) throws(ToolError) -> Bool {
        switch given.option {
        case .retry: retry.maximumAttempts = try given.number(in: 0...1_000_000) + 1
        case .retryDelay:
            guard let delay = try given.seconds() else { break }
            retry.baseDelay = delay
            retry.maximumDelay = delay
        case .retryMaxTime:
            retry.deadline = try given.seconds()
            // Who says how long to go on has said how long to wait.
            if let deadline = retry.deadline { retry.maximumRetryAfter = deadline }
        case .retryAnyMethod: retry.repeatsAnyMethod = true
        default: return false
        }
        return true
    }

    private mutating func takeConnection(_ given: ParsedArguments.Given) throws(ToolError) -> Bool {
        switch given.option {
        case .insecure: request.tls.verification = .disabled
        case .caFile: request.tls.caFile = given.value
        case .certificate: certificate = given.value
        case .key: key = given.value
        case .passphrase: passphrase = given.value
        case .proxy: proxy = given.value
        case .proxyUser: proxyUser = given.value
        case .noProxy:
            bypassedHosts = given.value.split { $0 == "," || $0 == " " }.map(String.init)
        case .unixSocket: request.unixSocket = given.value
        case .http1: request.httpVersion = .http1_1
        case .http2: request.httpVersion = .http2
        case .http2PriorKnowledge: request.httpVersion = .http2PriorKnowledge
        default: return false
        }
        return true
    }

    /// Takes `Name: value`, and `Name;` for an empty value.
    ///
    /// curl's `Name:`, which takes a header away, works for `Expect` only.
    private mutating func takeHeader(_ line: String) throws(ToolError) {
        let field: (name: String, value: String)
        if let parts = HeaderLines.split(line) {
            field = parts
        } else if line.last == ";" {
            field = (String(line.dropLast()), "")
        } else {
            throw .usage("-H '\(Self.shown(line))' is not like 'Name: value'")
        }
        if field.value.isEmpty, line.last != ";" {
            guard field.name.lowercased() == "expect" else {
                throw .usage("-H '\(Self.shown(line))' has no value; 'Name;' sends an empty one")
            }
            request.expectContinue = .never
            return
        }
        if field.name.lowercased() == "expect", field.value.lowercased() == "100-continue" {
            request.expectContinue = .always
            return
        }
        do {
            try request.addHeader(field.name, field.value)
        } catch {
            throw .usage("-H '\(Self.shown(line))': \(error.reason)")
        }
    }

    /// As much of a header as may be shown: its name, since its value may be a secret.
    private static func shown(_ line: String) -> String {
        guard let end = line.firstIndex(where: { $0 == ":" || $0 == " " }) else { return printable(line) }
        return printable("\(line[...end])...")
    }

    /// Checks what no option alone can tell.
    ///
    /// - Throws: A usage error where options do not go together.
    func check() throws(ToolError) {
        if scheme != nil, user == nil { throw .usage("--digest and --anyauth need a user: -u NAME[:PASSWORD]") }
        if user != nil, token != nil { throw .usage("-u and --bearer are two ways to log in; choose one") }
        if proxyUser != nil, proxy?.isEmpty != false { throw .usage("--proxy-user needs a proxy: --proxy URL") }
        if certificate == nil, key != nil || passphrase != nil {
            throw .usage("--key and --pass need a certificate: --cert FILE")
        }
    }

    // MARK: The request

    /// Makes the request; asks for passwords that are not given.
    ///
    /// - Returns: The request.
    /// - Throws: Where a password cannot be asked for, or a file not be read.
    func makeRequest() throws(ToolError) -> CurlRequest {
        var request = request
        request.redirects = followsRedirects ? .follow(limit: redirectLimit) : .none
        request.retry = retry
        request.authentication = try askedAuthentication()
        request.proxy = try askedProxy()
        if let path = request.tls.caFile { try Descriptor.checkReadable(path) }
        if let certificate {
            let (file, passphrase) = SecretValue.certificate(certificate)
            try Descriptor.checkReadable(file)
            if let key { try Descriptor.checkReadable(key) }
            request.tls.clientCertificate = .init(
                certificateFile: file,
                keyFile: key,
                passphrase: self.passphrase ?? passphrase
            )
        }
        return request
    }

    private func askedAuthentication() throws(ToolError) -> CurlRequest.Authentication? {
        if let token { return .bearer(token) }
        guard let user else { return nil }
        let (name, password) = try Self.asked(user, "-u")
        return switch scheme {
        case .digest: .digest(user: name, password: password)
        case .anyAuth: .any(user: name, password: password)
        default: .basic(user: name, password: password)
        }
    }

    private func askedProxy() throws(ToolError) -> CurlRequest.Proxy {
        guard let proxy else {
            guard let bypassedHosts else { return .environment }
            return bypassedHosts == ["*"] ? .none : .environment(except: bypassedHosts)
        }
        if proxy.isEmpty { return .none }
        guard let proxyUser else { return .url(proxy, except: bypassedHosts ?? []) }
        let (user, password) = try Self.asked(proxyUser, "-U", at: " at the proxy")
        return .url(proxy, user: user, password: password, except: bypassedHosts ?? [])
    }

    private static func asked(
        _ given: String,
        _ option: String,
        at place: String = ""
    ) throws(ToolError) -> (user: String, password: String) {
        if let credentials = SecretValue.credentials(given) { return credentials }
        return (given, try Password.ask(for: given, at: place, option))
    }
}
