/// What one `-F` says, in curl's grammar: `name=value`, `name=<path`, `name=@path,path`, `name=(` and `=)`.
///
/// Whatever a user of curl knows holds here. Where curl would send something else than was written, with a warning or
/// without one (it drops what follows a semicolon that it does not understand), this is an error that says how to
/// write it.
enum FormSpec: Equatable, Sendable {
    /// A field and its value.
    case value(String, Attributes)
    /// A field whose value is a file's content.
    case content(of: String, Attributes)
    /// One or more files under one name.
    case files([File])
    /// The parts up to the matching ``end`` are one part, nested.
    case begin(Attributes)
    case end

    /// What may follow a value or path, each behind a semicolon.
    struct Attributes: Equatable, Sendable {
        var type: String?
        var filename: String?
        var headers: [Header] = []
        /// `gzip`, `gzip=LEVEL`, `content-encoding=gzip`: the part is compressed.
        var compression: Compression?
    }

    struct Compression: Equatable, Sendable {
        /// The level; nil where none was given.
        var level: Int?
        /// Whether the part keeps its name and type, and has the header in place of them.
        var isEncoding = false
    }

    struct File: Equatable, Sendable {
        var path: String
        var attributes = Attributes()
    }

    enum Header: Equatable, Sendable {
        /// `headers="Name: value"`.
        case line(String)
        /// `headers=@path`: a file of such lines.
        case file(String)
    }

    /// The path that stands for standard input.
    static let standardInput = "-"

    /// Takes an argument of `-F` apart.
    ///
    /// - Parameter argument: The argument.
    /// - Returns: The name, nil where the argument begins with `=`, and what it names.
    /// - Throws: What is wrong with it.
    static func parse(_ argument: String) throws(FormSpecError) -> (name: String?, spec: FormSpec) {
        let (name, rest) = try split(argument)
        if name == nil, rest == ")" { return (nil, .end) }
        var scanner = FormSpecScanner(rest)
        return (name, try scanner.scan())
    }

    /// Takes an argument of `--form-string` apart: what follows the first `=` is the value, whatever it is.
    ///
    /// - Parameter argument: The argument.
    /// - Returns: The name, nil where the argument begins with `=`, and the value.
    /// - Throws: ``FormSpecError/noEqualsSign``.
    static func split(_ argument: String) throws(FormSpecError) -> (name: String?, value: String) {
        guard let equals = argument.utf8.firstIndex(of: UInt8(ascii: "=")) else { throw .noEqualsSign }
        let name = argument[..<equals]
        return (name.isEmpty ? nil : String(name), String(argument[argument.utf8.index(after: equals)...]))
    }
}

/// What is wrong with an argument of `-F`.
enum FormSpecError: Error, Equatable, Sendable, CustomStringConvertible {
    case noEqualsSign
    case noPath
    case invalidType(String)
    case unknownAttribute(String)
    case encoder
    case invalidGzipLevel(String)
    case unknownEncoding(String)
    case filenameWithoutFile
    case textAfterQuote(String)
    case textAfterParenthesis(String)

    var description: String {
        switch self {
        case .noEqualsSign:
            "is not NAME=VALUE, NAME=@FILE or NAME=<FILE"
        case .noPath:
            "has no file behind its @, < or comma"
        case .invalidType(let text):
            "has the type \"\(text)\", which is not like text/plain"
        case .unknownAttribute(let text):
            "has \";\(text)\", which is not type=, filename=, headers=, gzip or content-encoding=; "
                + "a value with a semicolon is quoted, as in name=\"a;b\""
        case .encoder:
            "has encoder=, but form-data has no transfer encodings (RFC 7578 section 4.7): it is sent as it is"
        case .invalidGzipLevel(let text):
            "has gzip=\(text), but the levels are 0 to 9"
        case .unknownEncoding(let text):
            "has content-encoding=\(text), but gzip is the only one there is"
        case .filenameWithoutFile:
            "has filename=, which fits only a value or a file behind @"
        case .textAfterQuote(let text):
            "has \"\(text)\" behind the closing quote; a quote within quotes is written \\\""
        case .textAfterParenthesis(let text):
            "begins a group, but goes on with \"\(text)\"; a value with a parenthesis in front is quoted, as in name=\"(a)\""
        }
    }
}
