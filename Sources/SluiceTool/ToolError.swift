import Sluice
import SluiceCurl

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

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
    ///   - exitCode: The status to exit with, unless it is a lack of permission.
    ///   - path: The file that it is about.
    ///   - doing: What failed, as in `cannot be written`.
    ///   - number: The system's error number.
    /// - Returns: The error, in the words of the system.
    static func system(_ exitCode: ExitCode, _ path: String, _ doing: String, _ number: Int32) -> ToolError {
        ToolError(
            meansNoPermission(number) ? .noPermission : exitCode,
            "\(printable(path)): \(doing): \(Errno(number))"
        )
    }

    fileprivate static func meansNoPermission(_ number: Int32) -> Bool {
        number == EACCES || number == EPERM
    }
}

extension ToolError {
    /// What the engine says, with the status that fits.
    init(_ error: MultipartError) {
        self.init(Self.exitCode(for: error), error.description)
    }

    /// Why there is no output file, with the status that fits.
    init(output error: MultipartError) {
        let exitCode: ExitCode = error.code == .writeFailed ? .inputOutput : .cannotCreate
        self.init(error.errno.map(Self.meansNoPermission) == true ? .noPermission : exitCode, error.description)
    }

    /// What the transport says, with the status that fits.
    init(_ error: TransferError) {
        if error.code == .bodyFailed, let bodyError = error.bodyError {
            self.init(bodyError)
        } else {
            self.init(Self.exitCode(for: error), Self.inTermsOfOptions(error.description))
        }
    }

    /// Why an attempt failed, in terms of the tool.
    static func words(for reason: RetryNotice.Reason) -> String {
        inTermsOfOptions(reason.description)
    }

    /// The transport's advice names properties of its requests, which are options here.
    private static func inTermsOfOptions(_ text: String) -> String {
        let options = [
            "totalTimeout": "--max-time", "idleTimeout": "--idle-timeout", "connectTimeout": "--connect-timeout",
            "tls.caFile": "--cacert", "expectContinue": "-H 'Expect: 100-continue'",
            "the request's limit of the response's body": "--max-response", "the limit of redirects": "--max-redirs",
            "allowsInsecureRedirects": "--allow-insecure-redirects",
            "let the retry policy do so (repeatsAnyMethod)": "give --retry and --retry-any-method",
        ]
        return options.reduce(text) { text, option in replacing(option.key, by: option.value, in: text) }
    }

    // Not String's own: its library of regular expressions would be a megabyte of the tool's memory.
    private static func replacing(_ old: String, by new: String, in text: String) -> String {
        var rest = text[...]
        var result = ""
        while let character = rest.first {
            if rest.hasPrefix(old) {
                result += new
                rest = rest.dropFirst(old.count)
            } else {
                result.append(character)
                rest = rest.dropFirst()
            }
        }
        return result
    }

    private static func exitCode(for error: MultipartError) -> ExitCode {
        switch error.code {
        case .openFailed where error.errno.map(meansNoPermission) == true: .noPermission
        case .openFailed, .notReadable: .noInput
        case .writeFailed where error.errno.map(meansNoPermission) == true: .noPermission
        case .fileExists: .cannotCreate
        case .readFailed, .writeFailed, .connectionClosed, .sourceFailed: .inputOutput
        case .invalidRange, .unknownLength, .limitExceeded, .resourcesExhausted, .cancelled,
            .compressionFailed:
            .software
        default: .badData
        }
    }

    private static func exitCode(for error: TransferError) -> ExitCode {
        switch error.code {
        case .invalidRequest: .usage
        case .unexpectedStatus: .httpError
        case .couldNotResolve, .couldNotConnect: .unavailable
        case .timeout, .idleTimeout, .fileInUse: .temporaryFailure
        case .tls, .tooManyRedirects, .insecureRedirect, .protocolError, .responseTooLarge: .protocolError
        case .connectionLost: .inputOutput
        case .bodyFailed, .bodyNotReplayable, .contentMismatch: .badData
        case .fileFailed: fileFailure(error.errno)
        default: .software
        }
    }

    /// What a file could not be written for: who may not, what has no room, or anything else.
    private static func fileFailure(_ number: Int32?) -> ExitCode {
        guard let number else { return .cannotCreate }
        if meansNoPermission(number) { return .noPermission }
        return [ENOSPC, EDQUOT, EFBIG, EIO].contains(number) ? .inputOutput : .cannotCreate
    }
}
