import Sluice
import SluiceCurl

/// What the options of `sluice upload` say, checked as far as that takes no network and no files.
struct UploadOptions: Sendable {
    private(set) var form = FormOptions()
    private(set) var request: CurlRequest
    /// How the body is sent.
    var method: String { request.method ?? "POST" }
    private(set) var output: String?
    private(set) var failsOnError = false
    private(set) var progress = ProgressDisplay.Style.auto
    private(set) var isVerbose = false
    private var user: String?
    private var token: String?
    private var scheme: Option?

    /// Reads the command's arguments.
    ///
    /// - Parameter arguments: The parsed command line.
    /// - Throws: A usage error.
    init(_ arguments: ParsedArguments) throws(ToolError) {
        guard let url = arguments.operands.first else { throw .usage("there is no URL to upload to") }
        guard arguments.operands.count == 1 else {
            // Not shown: a URL may hold a password.
            throw .usage("there is one argument too many behind the URL; a part is given with -F")
        }
        // As curl does, so that the host and port on the desk need no more.
        request = CurlRequest(url: Self.hasScheme(url) ? url : "http://\(url)")
        request.redirects = .none
        request.connectTimeout = nil
        request.idleTimeout = nil
        request.responseBodyLimit = 64 << 20
        for given in arguments.options where try !form.take(given) { try take(given) }
        if scheme != nil, user == nil { throw .usage("--digest and --anyauth need a user: -u NAME[:PASSWORD]") }
        if user != nil, token != nil { throw .usage("-u and --oauth2-bearer are two ways to log in; choose one") }
    }

    private mutating func take(_ given: ParsedArguments.Given) throws(ToolError) {
        switch given.option {
        case .request: request.method = given.value
        case .header: try takeHeader(given.value)
        case .user: user = given.value
        case .digest, .anyAuth: scheme = given.option
        case .bearer: token = given.value
        case .location: request.redirects = .follow(limit: 50)
        case .insecure: request.tls.verification = .disabled
        case .caFile: request.tls.caFile = given.value
        case .fail: failsOnError = true
        case .output: output = given.value == "-" ? nil : given.value
        case .maxTime: request.totalTimeout = try Self.seconds(given)
        case .connectTimeout: request.connectTimeout = try Self.seconds(given)
        case .idleTimeout: request.idleTimeout = try Self.seconds(given)
        case .maxResponse: request.responseBodyLimit = try given.bytes()
        case .progress:
            guard let style = ProgressDisplay.Style(rawValue: given.value) else {
                let known = ProgressDisplay.Style.allCases.map(\.rawValue).joined(separator: ", ")
                throw .usage("--progress is one of \(known), not '\(printable(given.value))'")
            }
            progress = style
        case .verbose: isVerbose = true
        default: break
        }
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

    /// The request's credentials; asks for the password where it is not given.
    ///
    /// - Returns: Them, or nil for none.
    /// - Throws: Where the password cannot be asked for.
    func askedAuthentication() throws(ToolError) -> CurlRequest.Authentication? {
        if let token { return .bearer(token) }
        guard let user else { return nil }
        let name: String
        let password: String
        if let colon = user.utf8.firstIndex(of: UInt8(ascii: ":")) {
            (name, password) = (String(user[..<colon]), String(user[user.utf8.index(after: colon)...]))
        } else {
            (name, password) = (user, try Password.ask(for: user))
        }
        return switch scheme {
        case .digest: .digest(user: name, password: password)
        case .anyAuth: .any(user: name, password: password)
        default: .basic(user: name, password: password)
        }
    }

    // MARK: Numbers

    /// A number of seconds; 0 is no limit, as with curl.
    private static func hasScheme(_ url: String) -> Bool {
        let colon = url.utf8.drop { $0 != UInt8(ascii: ":") }
        return colon.starts(with: "://".utf8)
    }

    private static func seconds(_ given: ParsedArguments.Given) throws(ToolError) -> Duration? {
        let isDecimal = given.value.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        guard isDecimal, let seconds = Double(given.value), seconds < 1e9 else {
            throw .usage("--\(given.option.rawValue) is a number of seconds, not '\(printable(given.value))'")
        }
        return seconds == 0 ? nil : .seconds(seconds)
    }
}
