extension Option {
    /// What the help says of it, in lines that fit beside the names.
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
        case .oauth2Bearer: ["the same, as curl calls it"]
        case .location: ["follow redirects"]
        case .maxRedirects: ["with -L: follow N at most, -1 for any number; 50", "unless given"]
        case .allowInsecureRedirects: ["with -L: follow from https to http, too"]
        default: helpOnConnections ?? helpOnReceiving ?? helpOnTransfers
        }
    }

    private var helpOnConnections: [String]? {
        switch self {
        case .insecure: ["do not verify the server's certificate"]
        case .caFile: ["trust the authorities in FILE (PEM) only"]
        case .certificate:
            [
                "show this certificate (PEM, or PKCS #12 by the name",
                ".p12 or .pfx), with the passphrase of its key",
            ]
        case .key: ["the certificate's private key (PEM), if it is not in", "the same file"]
        case .passphrase: ["the passphrase of the key"]
        case .proxy:
            [
                "go through a proxy: http, https, socks5 or socks5h;",
                "\"\" for none. Else http_proxy, https_proxy, all_proxy",
                "and no_proxy say which",
            ]
        case .proxyUser: ["log in to the proxy; asks as -u does"]
        case .noProxy: ["hosts to reach without a proxy, between commas; *", "is all of them"]
        case .unixSocket: ["connect to this socket, whatever the URL's host is"]
        case .http1: ["speak HTTP/1.1"]
        case .http2: ["ask for HTTP/2"]
        case .http2PriorKnowledge: ["speak HTTP/2 from the first byte, also without TLS"]
        case .retry:
            [
                "try again up to N times, after 1, 2, 4, ... seconds",
                "or what Retry-After says, where that is safe: if the",
                "server got nothing, says that it did nothing (408,",
                "429, 503), or for GET and PUT (500, 502, 504, lost",
                "connections). What is read once is sent once",
            ]
        case .retryDelay: ["wait so long each time, or up to a half shorter"]
        case .retryMaxTime: ["begin no attempt after so many seconds"]
        case .retryAnyMethod: ["also where a POST may come to the server twice"]
        default: nil
        }
    }

    private var helpOnReceiving: [String]? {
        switch self {
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
        default: nil
        }
    }

    private var helpOnTransfers: [String] {
        switch self {
        case .maxTime: ["give up after so many seconds, retries and all"]
        case .connectTimeout: ["give up if not connected after so many seconds"]
        case .idleTimeout: ["give up if nothing moves for so many seconds, also", "while the server thinks"]
        case .limitRate: ["move so many a second at most, on average; with K,", "M, G for multiples of 1024"]
        case .maxResponse: ["accept no longer answer; 64M unless given"]
        case .remoteName: ["write to a file named as the URL's last part"]
        case .continueAt:
            ["go on with what an earlier download to FILE left,", "if the server says that it is still the same"]
        case .removeOnError: ["leave nothing to go on with if it fails"]
        case .sha256: ["fail, and leave the old FILE, unless the new one's", "SHA-256 is this"]
        case .crc32: ["the same with the CRC-32, eight digits"]
        case .fsync: ["have it on the disk, not only in memory, at the end"]
        case .next: ["begin another transfer, with options of its own"]
        case .parallel: ["do up to N transfers at the same time; 1 unless", "given"]
        case .failEarly: ["end with the first that fails; else the others go on"]
        case .fail: ["end with status 22 if the server answers with 400", "or above"]
        case .progress:
            [
                "show progress on standard error: bar, plain (lines),",
                "json (an object a line), none, or auto (the default:",
                "bar on a terminal, plain elsewhere)",
            ]
        case .verbose: ["show headers and connections on standard error"]
        case .help: ["print this"]
        case .version: ["print the version"]
        default: []
        }
    }
}
