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
    case bearer = "oauth2-bearer"
    case location
    case insecure
    case caFile = "cacert"
    case fail
    case maxTime = "max-time"
    case connectTimeout = "connect-timeout"
    case idleTimeout = "idle-timeout"
    case maxResponse = "max-response"
    case progress
    case verbose

    case help
    case version

    /// The options that say what the form consists of.
    static let ofForms: [Option] = [
        .form, .formString, .boundary, .subtype, .escape, .formEscape, .strictFiles, .gzipWorkers, .gzipLength,
    ]

    /// The one-letter name; those that curl has as well are curl's.
    var letter: Character? {
        switch self {
        case .form: "F"
        case .output: "o"
        case .request: "X"
        case .header: "H"
        case .user: "u"
        case .location: "L"
        case .insecure: "k"
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
        case .subtype: "NAME"
        case .escape: "HOW"
        case .output, .caFile: "FILE"
        case .request: "METHOD"
        case .header: "LINE"
        case .user: "NAME[:PASSWORD]"
        case .bearer: "TOKEN"
        case .maxTime, .connectTimeout, .idleTimeout: "SECONDS"
        case .maxResponse: "BYTES"
        case .gzipWorkers: "N"
        case .gzipLength: "HOW"
        case .progress: "HOW"
        case .formEscape, .strictFiles, .printContentType, .printLength, .digest, .anyAuth, .location, .insecure, .fail,
            .verbose, .help, .version:
            nil
        }
    }

    /// What the help says, in lines that fit beside the names.
    var help: [String] {
        switch self {
        case .form: ["add a part, as curl's -F does; see SPEC below"]
        case .formString: ["add a field with exactly this value"]
        case .boundary: ["separate the parts by TEXT; random unless given"]
        case .subtype: ["send multipart/NAME: form-data (the default), mixed,", "related, ..."]
        case .escape:
            [
                "how to write quotes and line breaks in names:",
                "percent (%22, the default), html (the same, and as",
                "browsers do in values) or backslash (\\\")",
            ]
        case .formEscape: ["the same as --escape backslash"]
        case .strictFiles:
            ["fail if a file changes in any way meanwhile; one", "that only grows is cut at its first size otherwise"]
        case .gzipWorkers: ["compress a part on N threads; as many as there are", "cores unless given"]
        case .gzipLength:
            [
                "how to know a compressed part's length: unknown (the",
                "default: it is sent in chunks), measured (compress",
                "twice) or spooled (compress first, to a temporary",
                "file unless it is small)",
            ]
        case .output:
            ["write to FILE, which is replaced only when all is", "there; - is standard output"]
        case .printContentType: ["print the body's Content-Type; the body itself", "is then written to -o FILE only"]
        case .printLength: ["print the body's length in bytes, or \"unknown\",", "likewise"]
        case .request: ["use METHOD; POST unless given"]
        case .header:
            ["send a header, like 'Name: value'; 'Name;' sends an", "empty one, 'Expect:' sends none of that name"]
        case .user:
            ["log in with HTTP Basic; without PASSWORD it is asked", "for. On the command line, others can see it"]
        case .digest: ["with -u: log in with HTTP Digest"]
        case .anyAuth: ["with -u: log in with what the server asks for"]
        case .bearer: ["log in with a token"]
        case .location: ["follow redirects"]
        case .insecure: ["do not verify the server's certificate"]
        case .caFile: ["trust the authorities in FILE (PEM) only"]
        case .fail: ["end with status 22 if the server answers with 400", "or above"]
        case .maxTime: ["give up after so many seconds"]
        case .connectTimeout: ["give up if not connected after so many seconds"]
        case .idleTimeout: ["give up if nothing moves for so many seconds, also", "while the server thinks"]
        case .maxResponse: ["accept no longer answer; 64M unless given"]
        case .progress:
            [
                "show progress on standard error: bar, plain (lines),",
                "json (an object a line), none, or auto (the default:",
                "bar on a terminal, plain elsewhere)",
            ]
        case .verbose: ["show headers and connections on standard error"]
        case .help: ["print this"]
        case .version: ["print the version"]
        }
    }
}
