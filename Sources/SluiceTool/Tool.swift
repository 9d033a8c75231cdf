import Sluice

/// The tool as a whole: finds the command, runs it, and says what went wrong.
enum Tool {
    /// Runs the tool with the process's arguments.
    ///
    /// - Returns: The status to exit with.
    static func run() async -> ExitCode {
        do throws(ToolError) {
            try await run(try processArguments())
            return .success
        } catch {
            Console.standardError.print("sluice: \(printable(error.message))")
            return error.exitCode
        }
    }

    /// The process's arguments, without the program's name.
    private static func processArguments() throws(ToolError) -> [String] {
        var arguments: [String] = []
        for index in 1..<max(Int(CommandLine.argc), 1) {
            // With its bytes repaired it would name another file than was meant.
            guard let argument = unsafe CommandLine.unsafeArgv[index],
                let text = unsafe String(validatingCString: argument)
            else { throw .usage("argument \(index) is not UTF-8") }
            arguments.append(text)
        }
        return arguments
    }

    /// Finds the command and runs it.
    private static func run(_ arguments: [String]) async throws(ToolError) {
        let name = arguments.first ?? ""
        do throws(ToolError) {
            switch name {
            case "encode":
                try await run(arguments, EncodeCommand.groups, EncodeCommand.help) { (parsed) async throws(ToolError) in
                    // Only uploads and downloads have --next.
                    try await EncodeCommand(parsed[0]).run()
                }
            case "upload":
                try await run(arguments, UploadCommand.groups, UploadCommand.help) { (parsed) async throws(ToolError) in
                    try await UploadCommand(parsed).run()
                }
            case "download":
                try await run(arguments, DownloadCommand.groups, DownloadCommand.help) {
                    (parsed) async throws(ToolError) in
                    try await DownloadCommand(parsed).run()
                }
            case "decode":
                try await run(arguments, DecodeCommand.groups, DecodeCommand.help) { (parsed) async throws(ToolError) in
                    try await DecodeCommand(parsed[0]).run()
                }
            case "receive":
                try await run(arguments, ReceiveCommand.groups, ReceiveCommand.help) {
                    (parsed) async throws(ToolError) in
                    try await ReceiveCommand(parsed[0]).run()
                }
            default:
                try runWithoutCommand(arguments)
            }
        } catch {
            guard error.exitCode == .usage else { throw error }
            let command = commands.contains(name) ? "\(name) " : ""
            throw .usage("\(error.message); try 'sluice \(command)--help'")
        }
    }

    private static let commands = ["encode", "upload", "download", "decode", "receive"]

    /// Runs a command with its arguments: a group for each transfer, and one where it has no `--next`.
    private static func run(
        _ arguments: [String],
        _ groups: [Usage.Group],
        _ help: String,
        command: ([ParsedArguments]) async throws(ToolError) -> Void
    ) async throws(ToolError) {
        let parsed = try OptionParser.parseGroups(Array(arguments.dropFirst()), groups.flatMap(\.options))
        if parsed.flatMap(\.options).contains(where: { $0.option == .help }) {
            try StandardOutput.print(help)
        } else {
            try await command(parsed)
        }
    }

    private static func runWithoutCommand(_ arguments: [String]) throws(ToolError) {
        guard let first = arguments.first else {
            throw .usage("there is no command; \(commands.joined(separator: ", ")) are the ones")
        }
        guard first.hasPrefix("-") else { throw .usage("unknown command '\(printable(first))'") }
        let parsed = try OptionParser.parse(arguments, [.help, .version])
        switch parsed.options.first?.option {
        case .help: try StandardOutput.print(Usage.tool)
        case .version: try StandardOutput.print(Usage.version)
        default: throw .usage("there is no command; \(commands.joined(separator: ", ")) are the ones")
        }
    }
}
