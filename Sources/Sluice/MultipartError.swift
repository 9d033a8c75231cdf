/// What went wrong while a multipart body was described, read or written.
///
/// ``code`` is for programs, ``description`` is for people: it names the part, the path and the system's own error
/// where there is one, and says what to do. An error that a source of yours throws is kept in ``underlyingError``.
public struct MultipartError: Error, Sendable, CustomStringConvertible {
    /// The kinds of error; a later version may have more of them.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The kind's name, as in `fileShrank`.
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// A boundary is missing, is not 1 to 70 characters of RFC 2046's `bchars`, or ends in a space.
        public static let invalidBoundary = Code("invalidBoundary")
        /// A nested form's boundary begins with an outer one's, or a part's content holds the delimiter.
        public static let boundaryConflict = Code("boundaryConflict")
        /// A field name or filename that no header can hold (NUL, unless the form is `.html`).
        public static let invalidName = Code("invalidName")
        /// A header that is not a token, holds CR, LF or NUL, or is the engine's own to write; a parameter that occurs twice.
        public static let invalidHeader = Code("invalidHeader")
        /// A media type that is not `type/subtype` with well-formed parameters (RFC 2045 section 5.1).
        public static let invalidMediaType = Code("invalidMediaType")
        /// A multipart subtype that is not a token, or a part that the subtype does not allow.
        public static let invalidForm = Code("invalidForm")
        /// A part is a directory, or another thing that has no bytes to read.
        public static let notReadable = Code("notReadable")
        /// A file could not be opened.
        public static let openFailed = Code("openFailed")
        /// Reading failed.
        public static let readFailed = Code("readFailed")
        /// Writing to the target descriptor failed.
        public static let writeFailed = Code("writeFailed")
        /// The target's reader is gone (EPIPE, ECONNRESET).
        public static let connectionClosed = Code("connectionClosed")
        /// A file ends before the length it had when the body was made.
        public static let fileShrank = Code("fileShrank")
        /// A file is another one, or was modified, since the body was made.
        public static let fileChanged = Code("fileChanged")
        /// A source gave fewer bytes than the length it declared, or an async sequence more.
        ///
        /// A generator or a source of one's own is not asked for more than it declared.
        public static let lengthMismatch = Code("lengthMismatch")
        /// A compressed part's source gave other bytes than when its compressed length was measured.
        public static let contentChanged = Code("contentChanged")
        /// A level, block size or number of workers that there is not, or a part that cannot be compressed so.
        public static let invalidCompression = Code("invalidCompression")
        /// The compressor failed.
        public static let compressionFailed = Code("compressionFailed")
        /// A source that can be read once is asked for a second time, or for a later offset.
        public static let notReplayable = Code("notReplayable")
        /// An offset or range that does not lie within the body, file or source.
        public static let invalidRange = Code("invalidRange")
        /// The length must be known for what was asked, and is not.
        public static let unknownLength = Code("unknownLength")
        /// A generator, async sequence or source of the caller's threw; see ``MultipartError/underlyingError``.
        public static let sourceFailed = Code("sourceFailed")
        /// More bytes than the limit that the caller set.
        public static let limitExceeded = Code("limitExceeded")
        /// Forms are nested too deeply.
        public static let nestingTooDeep = Code("nestingTooDeep")
        /// The task or reader was cancelled.
        public static let cancelled = Code("cancelled")
        /// The system has no thread, memory or descriptor to give.
        public static let resourcesExhausted = Code("resourcesExhausted")

        // What is wrong with a body that is parsed.

        /// A Content-Type that is not multipart.
        public static let notMultipart = Code("notMultipart")
        /// A body begins with something other than its first delimiter (``ParserPolicies/preamble``).
        public static let unexpectedPreamble = Code("unexpectedPreamble")
        /// A delimiter's line goes on with something other than padding (``ParserPolicies/delimiterSuffix``).
        public static let invalidDelimiter = Code("invalidDelimiter")
        /// A body ends before its close delimiter.
        public static let unexpectedEnd = Code("unexpectedEnd")
        /// A part of a form has no Content-Disposition of the type form-data with a name.
        public static let missingName = Code("missingName")
        /// A part's content is not UTF-8.
        public static let invalidText = Code("invalidText")
        /// A parser is fed after its end, or a part is read by two at once or after its turn.
        public static let outOfTurn = Code("outOfTurn")
        /// A file that must not be replaced is there already.
        public static let fileExists = Code("fileExists")

        // The limits of a body that is parsed.

        /// More than ``ParserLimits/partHeaderBytes``.
        public static let partHeadersTooLarge = Code("partHeadersTooLarge")
        /// More than ``ParserLimits/partHeaderCount``.
        public static let tooManyPartHeaders = Code("tooManyPartHeaders")
        /// More than ``ParserLimits/totalHeaderBytes``.
        public static let totalHeadersTooLarge = Code("totalHeadersTooLarge")
        /// More parameters in one header field than ``ParserLimits/parameterCount``.
        public static let tooManyParameters = Code("tooManyParameters")
        /// More than ``ParserLimits/partCount``.
        public static let tooManyParts = Code("tooManyParts")
        /// More than ``ParserLimits/paddingBytes`` behind a delimiter.
        public static let paddingTooLong = Code("paddingTooLong")
        /// More than ``ParserLimits/preambleBytes`` before the first delimiter.
        public static let preambleTooLong = Code("preambleTooLong")
        /// A field longer than ``ParserLimits/fieldBytes``.
        public static let fieldTooLarge = Code("fieldTooLarge")
        /// Fields longer than ``ParserLimits/totalFieldBytes`` together.
        public static let totalFieldsTooLarge = Code("totalFieldsTooLarge")
        /// A file, or a part that is no form's, longer than ``ParserLimits/fileBytes``.
        public static let fileTooLarge = Code("fileTooLarge")
        /// A body longer than ``ParserLimits/totalBytes``.
        public static let bodyTooLarge = Code("bodyTooLarge")

        // A part that is decompressed.

        /// A part that is not gzip, is cut off or damaged, or has something behind it.
        public static let invalidGzip = Code("invalidGzip")
        /// More bytes of decompressed content than ``GunzipLimits/bytes``.
        public static let inflatedTooLarge = Code("inflatedTooLarge")
        /// More bytes for each compressed one than ``GunzipLimits/ratio``.
        public static let inflatedTooMuch = Code("inflatedTooMuch")
    }

    /// Which part of a form an error or a progress report is about.
    public struct PartLabel: Hashable, Sendable, CustomStringConvertible {
        /// The part's place in its form, from 0.
        public let index: Int
        /// The part's name, where it has one.
        public let name: String?
        /// The places and names of the nested forms' parts around it, outermost first; empty for most parts.
        public let enclosing: [String]

        /// Makes a label.
        ///
        /// - Parameters:
        ///   - index: The part's place in its form, from 0.
        ///   - name: The part's name, where it has one.
        ///   - enclosing: The descriptions of the parts around it, outermost first.
        public init(index: Int, name: String?, enclosing: [String] = []) {
            self.index = index
            self.name = name
            self.enclosing = enclosing
        }

        /// The name in quotes, or the index where there is none: `"photo"`, `#3`, `"album" > #0`.
        public var description: String {
            (enclosing + [ownDescription]).joined(separator: " > ")
        }

        /// The part's own name or index, without the parts around it.
        var ownDescription: String {
            name.map { "\"\(printable($0))\"" } ?? "#\(index)"
        }
    }

    /// The kind of error.
    public let code: Code
    /// The part it is about, where it is about one.
    public internal(set) var part: PartLabel?
    /// The path of the file it is about, where it is about one.
    public let path: String?
    /// The system's error number (`errno`), where a system call failed.
    public let errno: Int32?
    /// The offset in the body that is parsed, from 0, of the byte that shows the error.
    public internal(set) var byteOffset: Int64?
    /// What happened, and what to do about it, in a sentence.
    public let reason: String
    /// What a source of the caller's threw, for ``Code/sourceFailed``.
    public let underlyingError: (any Error)?

    /// Makes an error, for sources of one's own.
    ///
    /// - Parameters:
    ///   - code: The kind of error.
    ///   - reason: What happened, and what to do about it.
    ///   - part: The part; the engine fills it in for errors that a source throws.
    ///   - path: The file, where it is about one.
    ///   - errno: The system's error number, where a system call failed.
    ///   - byteOffset: The offset in the body that is parsed, where it is about one.
    ///   - underlyingError: The error behind this one.
    public init(
        _ code: Code,
        _ reason: String,
        part: PartLabel? = nil,
        path: String? = nil,
        errno: Int32? = nil,
        byteOffset: Int64? = nil,
        underlyingError: (any Error)? = nil
    ) {
        self.code = code
        self.reason = reason
        self.part = part
        self.path = path
        self.errno = errno
        self.byteOffset = byteOffset
        self.underlyingError = underlyingError
    }

    /// The error in a line: the part, the path, what happened, where, and the system's words for the error number.
    public var description: String {
        var text = ""
        if let part { text += "part \(part): " }
        if let path { text += "\(printable(path)): " }
        text += reason
        if let byteOffset { text += " (at byte \(byteOffset))" }
        if let errno { text += " (\(Errno(errno)), errno \(errno))" }
        if let underlyingError { text += ": \(printable("\(underlyingError)"))" }
        return text
    }

    /// The same error, with the part named unless it already is.
    func inPart(_ label: PartLabel?) -> MultipartError {
        guard part == nil, let label else { return self }
        var copy = self
        copy.part = label
        return copy
    }

    /// The error for a failed system call.
    init(_ code: Code, _ reason: String, path: String? = nil, _ errno: Errno) {
        self.init(code, reason, path: path, errno: errno.rawValue)
    }

    /// The error of a source that declared more bytes than it has.
    static func endedEarly(_ offset: Int64, of length: Int64) -> MultipartError {
        MultipartError(
            .lengthMismatch,
            "the source ended after \(offset) bytes and \(length) were declared; declare the right length or none"
        )
    }

    /// What a closure or sequence of the caller's threw, as the engine's error: its own errors stay as they are.
    static func fromSource(_ error: any Error) -> MultipartError {
        if let error = error as? MultipartError { return error }
        if error is CancellationError {
            return MultipartError(.cancelled, "the source was cancelled", underlyingError: error)
        }
        return MultipartError(.sourceFailed, "the source failed", underlyingError: error)
    }
}

/// The text with its control characters escaped, so that a name from outside cannot forge lines of a log.
package func printable(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    return text.unicodeScalars.reduce(into: "") { result, scalar in
        if isControl(scalar) {
            result += scalar.escaped(asASCII: true)
        } else {
            result.unicodeScalars.append(scalar)
        }
    }
}

/// Whether Unicode calls it a control character (the C1 ones drive terminals, too) or a separator of lines.
private func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: true
    default: false
    }
}
