import Sluice

/// Why the tool ends without success: the status to exit with, and a line for the user.
struct ToolError: Error, Equatable, Sendable {
    let exitCode: ExitCode
    let message: String

    init(_ exitCode: ExitCode, _ message: String) {
        self.exitCode = exitCode
        self.message = message
    }

    /// The user asked for something that there is not.
    static func usage(_ message: String) -> ToolError {
        ToolError(.usage, message)
    }

    /// A system call failed.
    ///
    /// - Parameters:
    ///   - exitCode: The status to exit with.
    ///   - path: The file that it is about.
    ///   - doing: What was tried, as in `cannot be written`.
    ///   - number: The system's error number.
    /// - Returns: The error, in the words of the system.
    static func system(_ exitCode: ExitCode, _ path: String, _ doing: String, _ number: Int32) -> ToolError {
        ToolError(exitCode, "\(printable(path)): \(doing): \(Errno(number))")
    }
}

extension ToolError {
    /// What the engine says, with the status that fits.
    init(_ error: MultipartError) {
        self.init(Self.exitCode(for: error), error.description)
    }

    private static func exitCode(for error: MultipartError) -> ExitCode {
        switch error.code {
        case .openFailed, .notReadable: .noInput
        case .readFailed, .writeFailed, .connectionClosed, .sourceFailed: .inputOutput
        case .invalidRange, .unknownLength, .limitExceeded, .resourcesExhausted, .cancelled: .software
        default: .badData
        }
    }
}
