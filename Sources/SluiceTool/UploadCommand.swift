import Sluice
import SluiceCurl

/// `sluice upload`: sends a form to a server, and prints the answer.
struct UploadCommand: Sendable {
    private let options: UploadOptions
    private let console = Console.standardError

    static let groups: [Usage.Group] = [
        ("The form", Option.ofForms),
        ("The request", [.request, .header, .user, .digest, .anyAuth, .bearer, .location]),
        ("TLS", [.insecure, .caFile]),
        ("Limits", [.maxTime, .connectTimeout, .idleTimeout, .maxResponse]),
        ("Output", [.output, .fail, .progress, .verbose]),
        ("Other", [.help]),
    ]

    static var help: String {
        Usage.command(
            "sluice upload URL -F SPEC... [OPTION]...",
            "Sends a form to a server, and prints the body of its answer.",
            groups,
            exampleLines: """
                  sluice upload https://example.com/films -F title=Holiday -F film=@film.mkv
                  pg_dump shop | sluice upload https://example.com/ -F 'dump=@-;filename=x' -f
                """
        )
    }

    /// Reads the command's arguments.
    ///
    /// - Parameter arguments: The parsed command line.
    /// - Throws: A usage error.
    init(_ arguments: ParsedArguments) throws(ToolError) {
        options = try UploadOptions(arguments)
    }

    /// Does what the arguments say.
    ///
    /// - Throws: Why it could not.
    func run() async throws(ToolError) {
        let described = try options.form.makeForm()
        let body = try described.makeBody()
        var request = options.request
        if let path = request.tls.caFile { try Descriptor.checkReadable(path) }
        request.authentication = try options.askedAuthentication()
        if options.isVerbose { request.debug = show }
        guard let output = options.output else {
            let target = FileIdentity(descriptor: Descriptor.standardOutput)
            try described.refuse(writingTo: target, called: StandardOutput.name)
            return try StandardOutput.write(try await send(body, request).body)
        }
        try described.refuse(writingTo: FileIdentity(path: output), called: output)
        try await OutputFile.replacing(output) { (file) async throws(ToolError) in
            try file.write(try await send(body, request).body)
        }
    }

    // MARK: Sending

    private func send(_ body: MultipartBody, _ request: CurlRequest) async throws(ToolError) -> CurlResponse {
        let display = ProgressDisplay(options.progress, on: console)
        let unfinishedLine = Cleanup.add { display.end(success: false) }
        let client = CurlClient()
        let transfer = Task { () async -> Result<CurlResponse, TransferError> in
            do throws(TransferError) {
                return .success(try await client.upload(body, request) { display.show($0) })
            } catch {
                return .failure(error)
            }
        }
        Signals.onSignal { transfer.cancel() }
        let result = await transfer.value
        await client.close()
        Cleanup.forget(unfinishedLine)
        let sentCompletely = if case .success(let response) = result { response.sentCompletely } else { false }
        display.end(success: sentCompletely)
        Signals.endIfReceived()
        Signals.onSignal(nil)
        switch result {
        case .success(let response): return try check(response)
        case .failure(let error): throw ToolError(error)
        }
    }

    /// Says what is not to be seen from the answer's body, and does what `--fail` asks for.
    private func check(_ response: CurlResponse) throws(ToolError) -> CurlResponse {
        var remark = "HTTP \(response.status)\(response.reason.map { " \(printable($0))" } ?? "")"
        if response.redirectCount > 0, response.method != options.method {
            console.print(
                "sluice: redirected to \(printable(response.url)) with \(response.method), which carries no body; "
                    + "upload there if that is the place for it"
            )
        } else if !response.sentCompletely {
            remark += ", answered before all of the body was sent"
        }
        if options.failsOnError, response.status >= 400 { throw ToolError(.httpError, remark) }
        if (300..<400).contains(response.status), let location = response.header("Location") {
            remark += ", to \(printable(location)); -L follows it"
        }
        if response.status >= 300 || !response.sentCompletely && response.method == options.method {
            console.print("sluice: \(remark)")
        }
        return response
    }

    private func show(_ line: CurlRequest.DebugLine) {
        let mark =
            switch line.kind {
            case .info: "*"
            case .requestHeader: ">"
            case .responseHeader: "<"
            }
        console.print("\(mark) \(line.text)")
    }
}
