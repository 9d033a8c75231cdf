/// What the tool's exit status says: BSD's sysexits, and curl's 22.
enum ExitCode: Int32, CaseIterable, Sendable {
    case success = 0
    /// `--fail`, and the server answered with 400 or above. It is what curl gives, so that scripts need no change.
    case httpError = 22
    case usage = 64
    case badData = 65
    case noInput = 66
    case unavailable = 69
    case software = 70
    case cannotCreate = 73
    case inputOutput = 74
    case temporaryFailure = 75
    case protocolError = 76
    case noPermission = 77

    /// What `--help` says of it.
    var meaning: String {
        switch self {
        case .success: "done"
        case .httpError: "with --fail: the server answered with status 400 or above"
        case .usage: "wrong usage"
        case .badData: "a part is wrong: its name, headers or type, or a file that changed while it was sent"
        case .noInput: "a file is missing, or is a directory"
        case .unavailable: "no connection: the name does not resolve, or nobody answers"
        case .software: "an error in the tool or its libraries"
        case .cannotCreate: "the output cannot be created"
        case .inputOutput: "reading, writing or the connection failed midway"
        case .temporaryFailure: "timed out"
        case .protocolError: "not HTTP, a TLS failure, or a redirect that cannot be followed"
        case .noPermission: "no permission to read a part or to create the output"
        }
    }
}
