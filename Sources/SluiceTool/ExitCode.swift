/// What the tool's exit status says: BSD's sysexits, and curl's 22.
enum ExitCode: Int32, CaseIterable, Sendable {
    case success = 0
    /// The server answered a download with something else than the file, or with `--fail` an upload with 400 or above. It is
    /// what curl gives, so that scripts need no change.
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
        case .httpError: "the answer is an error (uploads: with -f), or is not the file"
        case .usage: "wrong usage"
        case .badData: "a part, body or download is wrong, or a file changed meanwhile"
        case .noInput: "a file is missing, or is a directory"
        case .unavailable: "no connection to the server, or no address to listen on"
        case .software: "an error in the tool or its libraries"
        case .cannotCreate: "the output cannot be created"
        case .inputOutput: "reading or writing failed, or the connection was lost"
        case .temporaryFailure: "timed out, or another download is writing the same file"
        case .protocolError: "TLS failed, or the answer is not what HTTP allows or too long"
        case .noPermission: "no permission to read a part or to create the output"
        }
    }
}
