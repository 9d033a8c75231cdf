import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// `sluice decode`: says what is in a body, and writes its parts to files.
struct DecodeCommand: Sendable {
    private var contentType: MultipartContentType?
    private var directory: String?
    private var lists = false
    private var isJSON = false
    private var isForced = false
    private var isLenient = false
    /// Nil for standard input, unless it is asked for.
    private var input: String?
    /// A body that is at hand bounds what it takes by itself, and content is not kept in memory.
    private var limits: LimitOptions = {
        var limits = ParserLimits(fileBytes: .max, totalBytes: .max)
        limits.fieldBytes = .max
        limits.totalFieldBytes = .max
        return LimitOptions(limits)
    }()

    private static let standardInput = "-"
    private static let chunkSize = 256 * 1024

    static let groups: [Usage.Group] = [
        ("The body", [.boundary, .contentType, .lenient]),
        ("Output", [.into, .force, .list, .json]),
        ("Limits", LimitOptions.options),
        ("Other", [.help]),
    ]

    static var help: String {
        Usage.command(
            "sluice decode [FILE] (--boundary TEXT | --content-type TYPE) [OPTION]...",
            """
            Takes a multipart body apart, from FILE or else from standard input. Unless
            --into is given it lists the parts: name, filename, type, size, SHA-256 and
            offset of the content, with tabs between them and "-" for what is not there.
            A body that is refused leaves no file, and the message says at which byte it
            went wrong.
            """,
            groups,
            exampleLines: """
                  sluice decode body --content-type 'multipart/form-data; boundary=xyz' --json
                  curl -s http://localhost/parts | sluice decode --boundary xyz --into parts
                """
        )
    }

    /// Reads the command's arguments.
    ///
    /// - Parameter arguments: The parsed command line.
    /// - Throws: A usage error.
    init(_ arguments: ParsedArguments) throws(ToolError) {
        for given in arguments.options where try !limits.take(given) { try take(given) }
        guard contentType != nil else {
            throw .usage("what separates the parts is not known; give --boundary or --content-type")
        }
        if let operand = arguments.operands.dropFirst().first {
            throw .usage("there is one argument too many, '\(printable(operand))'; one body is decoded at a time")
        }
        if isForced, directory == nil { throw .usage("--force is for --into") }
        input = arguments.operands.first
        lists = lists || isJSON || directory == nil
    }

    private mutating func take(_ given: ParsedArguments.Given) throws(ToolError) {
        switch given.option {
        case .boundary, .contentType:
            guard contentType == nil else {
                throw .usage("--boundary and --content-type are two ways to say it; give one, once")
            }
            do throws(MultipartError) {
                contentType =
                    given.option == .boundary
                    ? MultipartContentType(boundary: try Boundary(given.value)) : try MultipartContentType(given.value)
            } catch {
                throw .usage(error.reason)
            }
        case .into: directory = given.value
        case .list: lists = true
        case .json: isJSON = true
        case .force: isForced = true
        case .lenient: isLenient = true
        default: break
        }
    }

    /// Does what the arguments say.
    ///
    /// - Throws: Why it could not.
    func run() async throws(ToolError) {
        if input == nil, Descriptor.isTerminal(Descriptor.standardInput) {
            throw .usage("there is no body; give a FILE, or - to type it")
        }
        let path = input == Self.standardInput ? nil : input
        let descriptor = try path.map(Descriptor.open) ?? Descriptor.standardInput
        defer { if path != nil { close(descriptor) } }
        let inbox = try directory.map { (path) throws(ToolError) in try Inbox(path) }
        let parts: [(part: PartRecord, path: String?)]
        do {
            parts = try decode(descriptor, into: inbox)
        } catch {
            inbox?.removeIfNew()
            throw error
        }
        if lists { try list(parts) }
    }

    private func decode(
        _ descriptor: Int32,
        into inbox: Inbox?
    ) throws(ToolError) -> [(part: PartRecord, path: String?)] {
        guard let contentType else { return [] }
        var rules = BodyReceiver.Rules(limits: limits.limits)
        rules.makesDigests = lists
        if isLenient { rules.policies = Self.lenientPolicies }
        if inbox != nil { rules.treatment = { headers, _ in .store(name: Self.fileName(of: headers)) } }
        var receiver = BodyReceiver(contentType, rules, into: inbox, isForced ? .replace : .refuse)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkSize, alignment: 4096)
        defer { unsafe buffer.deallocate() }
        do {
            while case let count = try unsafe read(descriptor, into: buffer), count > 0 {
                try unsafe receiver.take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
            // Files get their names one after the other: a signal waits until the last one has.
            Signals.onSignal {}
            defer {
                Signals.endIfReceived()
                Signals.onSignal(nil)
            }
            return try receiver.finish()
        } catch let error as MultipartError {
            throw ToolError(error)
        } catch let error as ToolError {
            throw error
        } catch {
            throw ToolError(.software, "\(error)")
        }
    }

    private func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(ToolError) -> Int {
        do {
            return try unsafe Descriptor.read(descriptor, into: buffer)
        } catch {
            let name = input == Self.standardInput ? nil : input
            throw .system(
                error == .isDirectory ? .noInput : .inputOutput,
                name ?? "standard input",
                "cannot be read",
                error.rawValue
            )
        }
    }

    /// What a part's file is called: as the sender's file, else as the field, else by its place.
    private static func fileName(of headers: PartHeaders) -> String {
        if let filename = headers.filenameBytes, !filename.isEmpty { return SafeFilename.sanitize(filename) }
        if let name = headers.nameBytes, !name.isEmpty { return SafeFilename.sanitize(name) }
        return "part-\(headers.index + 1)"
    }

    /// Takes what can be taken in one way only by those who send it.
    private static let lenientPolicies: @Sendable (MultipartForm.Subtype) -> ParserPolicies = { subtype in
        var policies = ParserPolicies(for: subtype)
        policies.preamble = .skip
        policies.delimiterSuffix = .data
        policies.lineEnds = .lenient
        policies.folding = .unfold
        policies.requiresFormData = false
        return policies
    }

    private func list(_ parts: [(part: PartRecord, path: String?)]) throws(ToolError) {
        if isJSON {
            let objects = parts.map { $0.part.json(path: $0.path) }
            try StandardOutput.print(objects.isEmpty ? "[]" : "[\n\(objects.joined(separator: ",\n"))\n]")
        } else {
            for (part, _) in parts { try StandardOutput.print(part.line()) }
        }
    }
}
