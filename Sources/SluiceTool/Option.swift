/// Every option of every command; the raw value is the long name.
enum Option: String, CaseIterable, Sendable {
    case form
    case formString = "form-string"
    case boundary
    case subtype
    case escape
    case formEscape = "form-escape"
    case strictFiles = "strict-files"
    case gzipWorkers = "gzip-workers"
    case gzipLength = "gzip-length"

    case output
    case printContentType = "print-content-type"
    case printLength = "print-length"

    case request
    case header
    case user
    case digest
    case anyAuth = "anyauth"
    case bearer
    case oauth2Bearer = "oauth2-bearer"
    case location
    case maxRedirects = "max-redirs"
    case allowInsecureRedirects = "allow-insecure-redirects"

    case insecure
    case caFile = "cacert"
    case certificate = "cert"
    case key
    case passphrase = "pass"

    case proxy
    case proxyUser = "proxy-user"
    case noProxy = "noproxy"
    case unixSocket = "unix-socket"
    case http1 = "http1.1"
    case http2
    case http2PriorKnowledge = "http2-prior-knowledge"

    case maxTime = "max-time"
    case connectTimeout = "connect-timeout"
    case idleTimeout = "idle-timeout"
    case limitRate = "limit-rate"
    case maxResponse = "max-response"
    case retry
    case retryDelay = "retry-delay"
    case retryMaxTime = "retry-max-time"
    case retryAnyMethod = "retry-any-method"

    case remoteName = "remote-name"
    case continueAt = "continue"
    case removeOnError = "remove-on-error"
    case sha256
    case crc32
    case fsync

    case next
    case parallel
    case failEarly = "fail-early"

    case fail
    case progress
    case verbose

    case contentType = "content-type"
    case lenient
    case into
    case force
    case list
    case json

    case maxTotal = "max-total"
    case maxFile = "max-file"
    case maxField = "max-field"
    case maxParts = "max-parts"
    case maxHeaders = "max-headers"

    case port
    case bind
    case allowHost = "allow-host"
    case once
    case digests
    case minFree = "min-free"
    case maxConnections = "max-connections"

    case help
    case version

    /// The options that say what the form consists of.
    static let ofForms: [Option] = [
        .form, .formString, .boundary, .subtype, .escape, .formEscape, .strictFiles, .gzipWorkers, .gzipLength,
    ]

    /// The options of whatever talks to a server.
    static let ofConnections: [(heading: String, options: [Option])] = [
        ("The way to the server", [.proxy, .proxyUser, .noProxy, .unixSocket, .http1, .http2, .http2PriorKnowledge]),
        ("TLS", [.insecure, .caFile, .certificate, .key, .passphrase]),
        ("Retries", [.retry, .retryDelay, .retryMaxTime, .retryAnyMethod]),
    ]

    /// The one-letter name; those that curl has as well are curl's.
    var letter: Character? {
        switch self {
        case .form: "F"
        case .output: "o"
        case .remoteName: "O"
        case .continueAt: "C"
        case .request: "X"
        case .header: "H"
        case .user: "u"
        case .location: "L"
        case .insecure: "k"
        case .certificate: "E"
        case .proxy: "x"
        case .proxyUser: "U"
        case .fail: "f"
        case .maxTime: "m"
        case .verbose: "v"
        case .help: "h"
        case .version: "V"
        default: nil
        }
    }

    /// What stands for the value in the help; nil where the option takes none.
    var placeholder: String? {
        switch self {
        case .form: "SPEC"
        case .formString: "NAME=VALUE"
        case .boundary: "TEXT"
        case .passphrase: "PHRASE"
        case .subtype: "NAME"
        case .escape, .progress: "HOW"
        case .output, .caFile, .key: "FILE"
        case .certificate: "FILE[:PHRASE]"
        case .request: "METHOD"
        case .header: "LINE"
        case .user, .proxyUser: "NAME[:PASSWORD]"
        case .bearer, .oauth2Bearer: "TOKEN"
        case .proxy: "URL"
        case .noProxy: "HOSTS"
        case .unixSocket: "PATH"
        case .maxTime, .connectTimeout, .idleTimeout, .retryDelay, .retryMaxTime: "SECONDS"
        case .maxResponse, .limitRate, .maxTotal, .maxFile, .maxField, .maxHeaders, .minFree: "BYTES"
        case .maxRedirects, .retry, .parallel, .gzipWorkers, .maxParts, .maxConnections: "N"
        case .sha256, .crc32: "HEX"
        case .gzipLength: "HOW"
        case .contentType: "TYPE"
        case .into: "DIR"
        case .port: "PORT"
        case .bind: "ADDRESS"
        case .allowHost: "NAME"
        case .formEscape, .strictFiles, .printContentType, .printLength, .digest, .anyAuth, .location,
            .allowInsecureRedirects, .insecure, .http1, .http2, .http2PriorKnowledge, .retryAnyMethod, .remoteName,
            .continueAt, .removeOnError, .fsync, .next, .failEarly, .lenient, .force, .list, .json, .once, .digests,
            .fail, .verbose, .help, .version:
            nil
        }
    }
}
