import Sluice

/// `sluice encode`: writes a body to a file, a pipe or standard output, or says what goes with it.
struct EncodeCommand: Sendable {
    private var form = FormOptions()
    private var output: String?
    private var printsContentType = false
    private var printsLength = false

    static let groups: [Usage.Group] = [
        ("The form", Option.ofForms),
        ("Output", [.output, .printContentType, .printLength]),
        ("Other", [.help]),
    ]

    static var help: String {
        Usage.command(
            "sluice encode -F SPEC... [OPTION]...",
            "Writes a multipart body, to standard output unless -o says otherwise.",
            groups,
            notes: Usage.formSpecification,
            exampleLines: """
                  sluice encode -F title=Holiday -F film=@film.mkv -o body --print-content-type
                  tar c photos | sluice encode -F 'tar=@-;filename=photos.tar' > body
                """
        )
    }

    /// Reads the command's arguments.
    ///
    /// - Parameter arguments: The parsed command line.
    /// - Throws: A usage error.
    init(_ arguments: ParsedArguments) throws(ToolError) {
        for given in arguments.options where try !form.take(given) {
            switch given.option {
            case .output: output = given.value
            case .printContentType: printsContentType = true
            case .printLength: printsLength = true
            default: break
            }
        }
        if let operand = arguments.operands.first {
            throw .usage("there is one argument too many, '\(printable(operand))'; a part is given with -F")
        }
        if output == Self.standardOutput, prints {
            throw .usage(
                "the body and what --print-content-type and --print-length print cannot both go to standard output"
            )
        }
    }

    private static let standardOutput = "-"

    private var prints: Bool { printsContentType || printsLength }

    /// Does what the arguments say.
    ///
    /// - Throws: Why it could not.
    func run() async throws(ToolError) {
        let described = try form.makeForm()
        let body = try described.makeBody()
        if let output, output != Self.standardOutput {
            try described.refuse(writingTo: FileIdentity(path: output), called: output)
            try await OutputFile.replacing(output) { (file) throws(ToolError) in
                try Self.write(body, to: file.descriptor, called: output)
            }
        } else if !prints {
            if output == nil, Descriptor.isTerminal(Descriptor.standardOutput) {
                throw .usage("the body may be binary and would go to the terminal; give -o FILE, or -o - to see it")
            }
            try described.refuse(
                writingTo: FileIdentity(descriptor: Descriptor.standardOutput),
                called: StandardOutput.name
            )
            try Self.write(body, to: Descriptor.standardOutput, called: StandardOutput.name)
        }
        if printsContentType { try StandardOutput.print(body.contentType) }
        if printsLength { try StandardOutput.print(body.contentLength.map(String.init) ?? "unknown") }
    }

    private static func write(
        _ body: MultipartBody,
        to descriptor: Int32,
        called name: String
    ) throws(ToolError) {
        do {
            try body.write(to: descriptor)
        } catch {
            if error.code == .connectionClosed { Signals.endByBrokenPipe() }
            guard error.code == .writeFailed || error.code == .connectionClosed else { throw ToolError(error) }
            throw ToolError(.inputOutput, "\(printable(name)): \(error)")
        }
    }
}
