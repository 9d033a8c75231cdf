import Sluice

/// `sluice receive`: takes in uploads, and stores their files.
struct ReceiveCommand: Sendable {
    private var port: UInt16 = 8080
    private var address = ListenAddress.loopback
    private var hosts: [String] = []
    private var directory = "."
    private var endsAfterOne = false
    private var makesDigests = false
    private var connections = 64
    private var minimumFree: Int64 = 256 << 20
    /// The disk is the limit, less what is to stay free, unless the options say less.
    private var limits: LimitOptions = {
        var limits = ParserLimits(fileBytes: .max, totalBytes: .max)
        // They are kept, and are in the answer, which takes up to six bytes for one of theirs.
        limits.totalFieldBytes = 1 << 20
        return LimitOptions(limits)
    }()

    static let groups: [Usage.Group] = [
        ("The server", [.port, .bind, .allowHost, .once, .maxConnections]),
        ("Files", [.into, .digests]),
        ("Limits", LimitOptions.options + [.minFree]),
        ("Other", [.help]),
    ]

    static var help: String {
        Usage.command(
            "sluice receive [OPTION]...",
            """
            Takes in uploads over HTTP, from browsers (GET / is a page with a form) and
            other clients (POST or PUT of multipart/form-data), and stores their files in
            the current directory unless --into says otherwise. Prints its URL when it
            listens. A file whose name is taken gets a number; an upload that is refused
            or breaks off leaves nothing.
            """,
            groups,
            notes: notes,
            exampleLines: """
                  sluice receive --into inbox
                  sluice receive --port 0 --once --into inbox --max-file 100M > url
                  curl -F file=@film.mkv http://127.0.0.1:8080/
                """
        )
    }

    private static let notes = """
        The answer is a JSON array with an object for each part: name, filename,
        contentType, size, sha256 (null without --digests), path (null where nothing was
        stored), and the value of a field. An upload that is refused is answered with an
        object that has the reason in "error", and with a status that fits.

        There is no password and no TLS: who can reach the address can store files.
        Pages of other sites cannot, since browsers say where an upload comes from and
        by which name they called the server; see --allow-host.
        """

    /// Reads the command's arguments.
    ///
    /// - Parameter arguments: The parsed command line.
    /// - Throws: A usage error.
    init(_ arguments: ParsedArguments) throws(ToolError) {
        for given in arguments.options where try !limits.take(given) { try take(given) }
        if let operand = arguments.operands.first {
            throw .usage("there is one argument too many, '\(printable(operand))'; the directory is given with --into")
        }
    }

    private mutating func take(_ given: ParsedArguments.Given) throws(ToolError) {
        switch given.option {
        case .port: port = UInt16(try given.number(in: 0...Int(UInt16.max)))
        case .bind: address = given.value
        case .allowHost: hosts.append(given.value)
        case .into: directory = given.value
        case .once: endsAfterOne = true
        case .digests: makesDigests = true
        case .minFree: minimumFree = Int64(try given.bytes())
        case .maxConnections: connections = try given.number(in: 1...10_000)
        default: break
        }
    }

    /// Does what the arguments say.
    ///
    /// - Throws: Why it could not.
    func run() async throws(ToolError) {
        let address = try ListenAddress(address, port: port)
        // A server without descriptors could not even turn clients away. Each has a socket, a file and a directory.
        let limit = OpenFileLimit.raise()
        let most = max((limit - 32) / 3, 1)
        if connections > most {
            Console.standardError.print(
                "sluice: no more than \(most) clients at a time: the limit of open files is \(limit), see ulimit -n"
            )
        }
        let inbox = try Inbox(directory)
        let leftovers = StagingLeftovers.remove(from: inbox)
        if leftovers > 0 {
            Console.standardError.print(
                "sluice: unfinished uploads that a killed receiver left, taken away: \(leftovers)"
            )
        }
        var rules = BodyReceiver.Rules(limits: limits.limits)
        rules.makesDigests = makesDigests
        rules.minimumFree = minimumFree
        rules.treatment = Self.treatment
        let settings = UploadServer.Settings(
            address: address,
            inbox: inbox,
            rules: rules,
            visitors: RequestGuard(allowing: hosts),
            connections: min(connections, most)
        )
        let (end, ending) = AsyncStream<Void>.makeStream()
        let endsAfterOne = endsAfterOne
        let server: UploadServer
        do {
            server = try UploadServer(settings) { outcome in
                Self.show(outcome)
                if endsAfterOne, case .stored = outcome { ending.finish() }
            }
        } catch {
            inbox.removeIfNew()
            throw error
        }
        Signals.onSignal { ending.finish() }
        do throws(ToolError) {
            try StandardOutput.print(address.url(port: server.port))
        } catch {
            server.stop()
            inbox.removeIfNew()
            throw error
        }
        // From now on another receiver may use it as well.
        inbox.keep()
        for await _ in end {}
        server.stop()
        Signals.endIfReceived()
        Signals.onSignal(nil)
    }

    private static func treatment(_ headers: PartHeaders, isForm: Bool) -> BodyReceiver.Treatment {
        guard let filename = headers.filenameBytes else {
            // What is no form has files without filenames.
            return isForm ? .keep : .store(name: "part-\(headers.index + 1)")
        }
        // What a browser sends for an input in which nothing was chosen.
        if filename.isEmpty { return .storeUnlessEmpty(name: "part-\(headers.index + 1)") }
        return .store(name: SafeFilename.sanitize(filename))
    }

    private static func show(_ outcome: UploadServer.Outcome) {
        switch outcome {
        case .stored(let parts):
            let files = parts.filter { $0.path != nil }
            let size = files.reduce(0) { $0 + $1.part.size }
            let names = files.prefix(3).compactMap(\.path).map(printable).joined(separator: ", ")
            let more = files.count > 3 ? " and \(files.count - 3) more" : ""
            Console.standardError.print(
                "sluice: stored \(names.isEmpty ? "no file" : names)\(more), \(Units.bytes(size))"
            )
        case .refused(let status, let reason):
            Console.standardError.print("sluice: refused with \(status): \(printable(reason))")
        case .aborted:
            Console.standardError.print("sluice: the client went away before its upload was complete")
        }
    }
}
