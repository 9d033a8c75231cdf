import Sluice
import SluiceCurl

/// `sluice download`: gets files from servers.
struct DownloadCommand: Sendable {
    private var run = RunOptions()
    private let downloads: [DownloadOptions]
    private let console = Console.standardError

    static let groups: [Usage.Group] =
        [
            ("The file", [.output, .remoteName, .continueAt, .removeOnError, .sha256, .crc32, .fsync]),
            (
                "The request",
                [
                    .header, .user, .digest, .anyAuth, .bearer, .oauth2Bearer, .location, .maxRedirects,
                    .allowInsecureRedirects,
                ]
            ),
        ] + Option.ofConnections + [
            ("Limits", [.maxTime, .connectTimeout, .idleTimeout, .limitRate]),
            ("Several downloads", [.next, .parallel, .failEarly]),
            ("Other", [.progress, .verbose, .help]),
        ]

    static var help: String {
        Usage.command(
            "sluice download URL -o FILE [OPTION]... [--next URL -o FILE...]...",
            "Gets a file from a server.",
            groups,
            notes: """
                FILE is written as FILE.sluice-part, and takes its name once it is whole: what
                was there stays until then. Only an answer of 200 is the file, or of 206 for the
                rest of it. A download that breaks off is left for -C to go on with, if the
                server says what version it is (a strong ETag, or Last-Modified).
                """,
            exampleLines: """
                  sluice download -L https://example.com/film.mkv -o film.mkv -C --retry 5
                  sluice download https://example.com/photos.tar | tar x
                """
        )
    }

    /// Reads the command's arguments.
    ///
    /// - Parameter arguments: The parsed command line.
    /// - Throws: A usage error.
    init(_ arguments: [ParsedArguments]) throws(ToolError) {
        downloads = try run.transfers(arguments) { (own) throws(ToolError) in try DownloadOptions(own) }
        if run.parallel > 1, downloads.count(where: { $0.output == nil }) > 1 {
            throw .usage("two downloads to standard output at the same time would mix; give -o FILE")
        }
    }

    /// Does what the arguments say.
    ///
    /// - Throws: Why it could not.
    func run() async throws(ToolError) {
        var requests: [CurlRequest] = []
        for download in downloads {
            try download.checkOutput()
            var request = try download.request.makeRequest()
            if run.isVerbose { request.debug = console.show }
            requests.append(request)
        }
        let (ready, downloads) = (requests, downloads)
        // A write to a pipe that nobody reads would keep a cancelled transfer from ending.
        let onlyStreams = downloads.allSatisfy { $0.output == nil }
        let lengths = downloads.map { _ in Int64?.none }
        let transfers = Transfers(run, lengths: lengths, leavesNothing: onlyStreams, on: console)
        try await transfers.run { (number, client, display) async throws(ToolError) in
            try await Download(downloads[number], ready[number], client, display).run()
        }
    }
}
