import Sluice
import SluiceCurl

/// What the options of `sluice download` say about one download, checked as far as that takes no network and no files.
struct DownloadOptions: Sendable {
    private(set) var request: RequestOptions
    /// The file; nil for standard output.
    private(set) var output: String?
    private(set) var file = FileDownloadOptions()
    /// Whether no option says where to write.
    private(set) var writesAnywhere = true
    /// The first option that only makes sense for files.
    private var optionOfFiles: Option?

    private static let standardOutput = "-"

    /// Reads the arguments.
    ///
    /// - Parameter arguments: The parsed command line, or what of it is about this download.
    /// - Throws: A usage error.
    init(_ arguments: ParsedArguments) throws(ToolError) {
        var operands = arguments.operands[...]
        // curl's way to write -C has a value, which is nearly always this one.
        if arguments.options.contains(where: { $0.option == .continueAt }),
            let index = operands.firstIndex(of: Self.standardOutput)
        {
            operands.remove(at: index)
        }
        guard let url = operands.first else { throw .usage("there is no URL to download from") }
        guard operands.count == 1 else {
            // Not shown: a URL may hold a password.
            throw .usage("there is one argument too many behind the URL; another URL is given with --next")
        }
        request = RequestOptions(url: url)
        file.startsOver = true
        for given in arguments.options where try !request.take(given) { try take(given, url) }
        try request.check()
        if [Option.output, .remoteName].allSatisfy({ option in arguments.options.contains { $0.option == option } }) {
            throw .usage("-o and -O each say where the file goes; choose one")
        }
        if output == nil { try refuseOptionsOfFiles(for: StandardOutput.name) }
        if !file.resumes, !file.startsOver {
            throw .usage("--continue and --remove-on-error contradict each other; choose one")
        }
    }

    private mutating func take(_ given: ParsedArguments.Given, _ url: String) throws(ToolError) {
        switch given.option {
        case .output:
            output = given.value == Self.standardOutput ? nil : given.value
            writesAnywhere = false
        case .remoteName:
            output = try Self.fileName(of: url)
            writesAnywhere = false
        case .continueAt: file.startsOver = false
        case .removeOnError: file.resumes = false
        case .sha256: file.sha256 = try Self.digits(given, 64, "sha256sum prints them")
        case .crc32: file.crc32 = UInt32(try Self.digits(given, 8, "gzip and zip have it"), radix: 16)
        case .fsync: file.synchronizes = true
        default: return
        }
        if [.continueAt, .removeOnError, .sha256, .crc32, .fsync].contains(given.option) {
            optionOfFiles = optionOfFiles ?? given.option
        }
    }

    private static func digits(
        _ given: ParsedArguments.Given,
        _ count: Int,
        _ source: String
    ) throws(ToolError) -> String {
        let isDigit: (UInt8) -> Bool = { Character(Unicode.Scalar($0)).isHexDigit }
        guard given.value.utf8.count == count, given.value.utf8.allSatisfy(isDigit) else {
            throw .usage(
                "--\(given.option.rawValue) is \(count) hexadecimal digits, as \(source), not '\(printable(given.value))'"
            )
        }
        return given.value
    }

    /// The last part of a URL's path, as it stands there.
    private static func fileName(of url: String) throws(ToolError) -> String {
        let bytes = url.utf8
        let end = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.endIndex
        let slashes = bytes.indices.filter { $0 < end && bytes[$0] == UInt8(ascii: "/") }
        // Two belong to the scheme, if there is one; what has none behind them is the host.
        let isScheme = slashes.count > 1 && bytes[..<slashes[0]].last == UInt8(ascii: ":")
        let last = slashes.dropFirst(isScheme ? 2 : 0).last
        let name = last.map { String(url[bytes.index(after: $0)..<end]) } ?? ""
        guard !name.isEmpty, name != ".", name != ".." else {
            throw .usage("the URL does not end with the name of a file; give -o FILE")
        }
        return name
    }

    /// Makes sure that nothing is asked of what is no file that only files can do.
    ///
    /// - Parameter output: What is no file.
    /// - Throws: A usage error.
    func refuseOptionsOfFiles(for output: String) throws(ToolError) {
        guard let optionOfFiles else { return }
        throw .usage("--\(optionOfFiles.rawValue) is for files, which \(printable(output)) is not; give -o FILE")
    }

    /// Makes sure that the answer can go where it goes.
    ///
    /// - Throws: A usage error where it would come to a terminal unasked.
    func checkOutput() throws(ToolError) {
        guard output == nil, writesAnywhere, Descriptor.isTerminal(Descriptor.standardOutput) else { return }
        throw .usage("the file may be binary and would go to the terminal; give -o FILE, or -o - to see it")
    }
}
