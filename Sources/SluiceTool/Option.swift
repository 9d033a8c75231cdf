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
        case .contentType: "TYPE"
        case .into: "DIR"
        case .maxTotal, .maxFile, .maxField, .maxHeaders, .minFree: "BYTES"
        case .maxParts, .maxConnections: "N"
        case .port: "PORT"
        case .bind: "ADDRESS"
        case .allowHost: "NAME"
        case .lenient, .force, .list, .json, .once, .digests, .formEscape, .strictFiles, .printContentType,
            .printLength, .digest, .anyAuth, .location, .insecure, .fail,
            .verbose, .help, .version:
            nil
        }
    }

    /// What the help says, in lines that fit beside the names.
    var help: [String] {
        switch self {
        case .form: ["add a part, as curl's -F does; see SPEC below"]
        case .formString: ["add a field with exactly this value"]
        case .boundary: ["what separates the parts; where a body is made, it", "is random unless given"]
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
        case .contentType:
            ["the body's Content-Type, which says what separates", "the parts and what they are to each other"]
        case .lenient:
            [
                "take what some senders do against the standards:",
                "text before the first part, LF alone as line end,",
                "folded headers, parts without a name. Programs may",
                "read such a body in different ways",
            ]
        case .into: ["write files to the directory DIR, which is made if", "it is not there; names are made safe"]
        case .force: ["replace files that are there already; else they", "are an error, and nothing is written"]
        case .list: ["list the parts"]
        case .json: ["list them as JSON, an array of objects"]
        case .maxTotal: ["refuse a body of more bytes; K, M and G are", "multiples of 1024"]
        case .maxFile: ["refuse a body with a longer file"]
        case .maxField: ["refuse a body with a longer field"]
        case .maxParts: ["refuse a body of more parts; 1000 unless given"]
        case .maxHeaders: ["refuse a body with longer headers of a part; 8K", "unless given"]
        case .port: ["listen on PORT; 8080 unless given, and with 0 one", "that is free"]
        case .bind: ["listen on the IP address ADDRESS, so that others", "can reach it; 127.0.0.1 unless given"]
        case .allowHost:
            [
                "answer also to clients that call the machine NAME;",
                "else to IP addresses and localhost only. Repeatable",
            ]
        case .once: ["end when an upload has been stored"]
        case .digests: ["answer with the SHA-256 of what was stored, too"]
        case .minFree: ["stop where less would be left free on the disk;", "256M unless given"]
        case .maxConnections: ["serve so many clients at a time, and turn others", "away; 64 unless given"]
        case .help: ["print this"]
        case .version: ["print the version"]
        }
    }
}
