import Sluice
import SluiceCurl

/// `sluice upload`: sends forms to servers, and prints their answers.
struct UploadCommand: Sendable {
    private var run = RunOptions()
    private let uploads: [UploadOptions]
    private let console = Console.standardError

    static let groups: [Usage.Group] =
        [
            ("The form", Option.ofForms),
            (
                "The request",
                [
                    .request, .header, .user, .digest, .anyAuth, .bearer, .oauth2Bearer, .location, .maxRedirects,
                    .allowInsecureRedirects,
                ]
            ),
        ] + Option.ofConnections + [
            ("Limits", [.maxTime, .connectTimeout, .idleTimeout, .limitRate, .maxResponse]),
            ("Several uploads", [.next, .parallel, .failEarly]),
            ("Output", [.output, .fail, .progress, .verbose]),
            ("Other", [.help]),
        ]

    static var help: String {
        Usage.command(
            "sluice upload URL -F SPEC... [OPTION]... [--next URL -F SPEC...]...",
            "Sends a form to a server, and prints the body of its answer.",
            groups,
            notes: Usage.formSpecification,
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
    init(_ arguments: [ParsedArguments]) throws(ToolError) {
        uploads = try run.transfers(arguments) { (own) throws(ToolError) in try UploadOptions(own) }
    }

    /// An upload that is ready to begin.
    private struct Upload: Sendable {
        let options: UploadOptions
        let form: FormOptions.Described
        let body: MultipartBody
        let request: CurlRequest
    }

    /// Does what the arguments say.
    ///
    /// - Throws: Why it could not.
    func run() async throws(ToolError) {
        let uploads = try prepare()
        let transfers = Transfers(run, lengths: uploads.map(\.body.contentLength), on: console)
        try await transfers.run { (number, client, display) async throws(ToolError) in
            try await Self.send(uploads[number], client, display)
        }
    }

    /// Looks at all files and asks for all passwords before anything is sent.
    private func prepare() throws(ToolError) -> [Upload] {
        var prepared: [Upload] = []
        var readsStandardInput = false
        for (index, options) in uploads.enumerated() {
            do throws(ToolError) {
                let form = try options.form.makeForm()
                if form.paths.contains(FormSpec.standardInput) {
                    if readsStandardInput { throw .usage("only one part can be read from standard input (-)") }
                    readsStandardInput = true
                }
                var request = try options.request.makeRequest()
                if run.isVerbose { request.debug = console.show }
                prepared.append(Upload(options: options, form: form, body: try form.makeBody(), request: request))
            } catch {
                throw uploads.count > 1 ? ToolError(error.exitCode, "transfer \(index + 1): \(error.message)") : error
            }
        }
        return prepared
    }

    // MARK: One upload

    private static func send(
        _ upload: Upload,
        _ client: CurlClient,
        _ display: TransferDisplay
    ) async throws(ToolError) {
        guard let output = upload.options.output else {
            let target = FileIdentity(descriptor: Descriptor.standardOutput)
            try upload.form.refuse(writingTo: target, called: StandardOutput.name)
            return try StandardOutput.write(try await answer(upload, client, display).body)
        }
        try upload.form.refuse(writingTo: FileIdentity(path: output), called: output)
        try await OutputFile.replacing(output) { (file) async throws(ToolError) in
            try file.write(try await answer(upload, client, display).body)
        }
    }

    private static func answer(
        _ upload: Upload,
        _ client: CurlClient,
        _ display: TransferDisplay
    ) async throws(ToolError) -> CurlResponse {
        var answer: CurlResponse?
        do throws(TransferError) {
            for try await event in client.uploadEvents(upload.body, upload.request) {
                switch event {
                case .progress(let progress): display.show(progress)
                case .retrying(let notice): display.show(notice)
                case .response(let response): answer = response
                }
            }
        } catch {
            throw ToolError(error)
        }
        guard let answer else { throw ToolError(.software, "the upload ended without a word") }
        display.end(keepsBar: answer.sentCompletely)
        try check(answer, upload.options, display)
        return answer
    }

    /// Says what is not to be seen from the answer's body, and does what `--fail` asks for.
    private static func check(
        _ response: CurlResponse,
        _ options: UploadOptions,
        _ display: TransferDisplay
    ) throws(ToolError) {
        var remark = "HTTP \(response.status)\(response.reason.map { " \(printable($0))" } ?? "")"
        if response.redirectCount > 0, response.method != options.method {
            display.say(
                "redirected to \(printable(response.url)) with \(response.method), which carries no body; "
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
            display.say(remark)
        }
    }
}
