import Sluice

/// Makes a form of `-F` and `--form-string` arguments, in their order.
struct FormBuilder {
    /// A form that parts are being added to, and what it will be a part of.
    private struct Level {
        var form: MultipartForm
        var name: String?
        var headers: [HeaderField] = []
        var compression: FormSpec.Compression?
    }

    /// How parts are compressed that say that they are.
    struct Compressing: Sendable {
        var workers = Gzip.Workers.automatic
        var length = Gzip.Length.unknown
    }

    private var levels: [Level]
    private let changePolicy: FileSource.ChangePolicy
    private let compressing: Compressing
    private var takesStandardInput = false
    /// The files that the parts are read from, as they were given.
    private(set) var paths: [String] = []

    /// Starts a form.
    ///
    /// - Parameters:
    ///   - form: An empty form, which says how it is sent.
    ///   - changePolicy: What may happen to files while they are read.
    ///   - compressing: How parts are compressed that say that they are.
    init(_ form: MultipartForm, changePolicy: FileSource.ChangePolicy, _ compressing: Compressing = .init()) {
        levels = [Level(form: form)]
        self.compressing = compressing
        self.changePolicy = changePolicy
    }

    /// The form so far; groups that are still open end here, as they do with curl.
    ///
    /// - Returns: The form.
    /// - Throws: What adding the open groups to it throws.
    func finish() throws(ToolError) -> MultipartForm {
        var copy = self
        while copy.levels.count > 1 { try copy.endGroup() }
        return copy.levels[0].form
    }

    /// Adds what an argument of `-F` says.
    ///
    /// - Parameter argument: The argument.
    /// - Throws: A usage error for bad grammar, and what is wrong with the part.
    mutating func add(_ argument: String) throws(ToolError) {
        do {
            let (name, spec) = try FormSpec.parse(argument)
            try add(name, spec)
        } catch {
            throw Self.explain(error, "-F", argument)
        }
    }

    /// Adds what an argument of `--form-string` says.
    ///
    /// - Parameter argument: The argument.
    /// - Throws: A usage error where it has no `=`, and what is wrong with the part.
    mutating func addString(_ argument: String) throws(ToolError) {
        do {
            let (name, value) = try FormSpec.split(argument)
            try append(Self.field(try disposition(name), value))
        } catch {
            throw Self.explain(error, "--form-string", argument)
        }
    }

    /// The error with the argument that it is about.
    private static func explain(_ error: any Error, _ option: String, _ argument: String) -> ToolError {
        let context = "\(option) '\(DisplayWidth.truncated(printable(argument), to: 60))'"
        return switch error {
        case let error as FormSpecError: .usage("\(context) \(error)")
        case let error as MultipartError: ToolError(ToolError(error).exitCode, "\(context): \(error.reason)")
        case let error as ToolError where error.exitCode == .usage: .usage("\(context): \(error.message)")
        case let error as ToolError: error
        default: ToolError(.software, "\(context): \(error)")
        }
    }

    // MARK: Kinds of parts

    private mutating func add(_ name: String?, _ spec: FormSpec) throws {
        switch spec {
        case .value(let value, let attributes):
            let part = Self.field(try disposition(name, filename: attributes.filename), value)
            try append(part, attributes, guessedFrom: attributes.filename)
        case .content(let path, let attributes):
            let part = Part(disposition: try disposition(name), mediaType: nil, file: try source(path))
            try append(part, attributes, guessedFrom: path)
        case .files(let files):
            for file in files {
                let filename = file.attributes.filename ?? Self.lastComponent(of: file.path)
                let part = Part(
                    disposition: try disposition(name, filename: filename),
                    // By the path's own extension where the name sent has none that is known.
                    mediaType: [filename, file.path].map(MediaType.forFilename).first { $0 != .octetStream }
                        ?? .octetStream,
                    file: try source(file.path)
                )
                try append(part, file.attributes)
            }
        case .begin(let attributes):
            try beginGroup(name, attributes)
        case .end:
            guard levels.count > 1 else {
                throw ToolError.usage("there is no group to end; one begins with NAME=(")
            }
            try endGroup()
        }
    }

    private mutating func append(
        _ part: Part,
        _ attributes: FormSpec.Attributes = .init(),
        guessedFrom filename: String? = nil
    ) throws {
        var part = part
        if let filename {
            part.mediaType = Self.fieldType(forFilename: filename, hasFilename: part.disposition?.filename != nil)
        }
        let headers = try Self.headers(attributes)
        if let type = attributes.type ?? headers.type { part.mediaType = try MediaType(type) }
        part.headers = headers.fields
        if let compression = attributes.compression { part = compressed(part, compression) }
        try levels[levels.count - 1].form.append(part)
    }

    private func compressed(_ part: Part, _ compression: FormSpec.Compression) -> Part {
        part.gzip(
            level: compression.level ?? Gzip.defaultLevel,
            mode: compression.isEncoding ? .contentEncoding : .file,
            workers: compressing.workers,
            length: compressing.length
        )
    }

    private static func field(_ disposition: ContentDisposition?, _ value: String) -> Part {
        var part = Part.field("", value)
        part.disposition = disposition
        return part
    }

    /// A field has no type unless its file's or its own filename shows one of the few that curl knows.
    private static func fieldType(forFilename filename: String, hasFilename: Bool) -> MediaType? {
        let type = MediaType.forFilename(filename)
        if type == .plainText { return hasFilename ? type : nil }
        let known = [
            "application/pdf", "application/xml", "image/gif", "image/jpeg", "image/png", "image/svg+xml", "text/html",
        ]
        return known.contains(type.description) ? type : nil
    }

    /// The Content-Disposition as curl has it: that of a form in a form, of attachments in everything else.
    private func disposition(_ name: String?, filename: String? = nil) throws(ToolError) -> ContentDisposition? {
        guard let level = levels.last, level.form.subtype == .formData else {
            if name == nil, filename == nil { return nil }
            var attachment = ContentDisposition.attachment(filename: filename)
            attachment.name = name
            return attachment
        }
        guard let name else {
            throw .usage("there is no name before the =, which a part of a form needs (RFC 7578 section 4.2)")
        }
        return .formData(name: name, filename: filename)
    }

    private mutating func source(_ path: String) throws(ToolError) -> FileSource {
        paths.append(path)
        guard path == FormSpec.standardInput else {
            return FileSource(path: path, changePolicy: changePolicy)
        }
        if takesStandardInput { throw .usage("only one part can be read from standard input (-)") }
        takesStandardInput = true
        return FileSource(descriptor: 0, ownership: .borrowed, changePolicy: changePolicy)
    }

    private static func lastComponent(of path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }

    // MARK: Groups

    private mutating func beginGroup(_ name: String?, _ attributes: FormSpec.Attributes) throws {
        let headers = try Self.headers(attributes)
        let type = try GroupType(attributes.type ?? headers.type ?? "multipart/mixed")
        // Checks that it may have no name where it has none.
        _ = try disposition(name)
        var form = MultipartForm(
            subtype: type.subtype,
            boundary: try Self.nestedBoundary(within: levels.map(\.form.boundary)),
            escaping: levels[0].form.escaping
        )
        for (name, value) in type.parameters { try form.addParameter(name: name, value: value) }
        levels.append(
            Level(form: form, name: name, headers: headers.fields, compression: attributes.compression)
        )
    }

    private mutating func endGroup() throws(ToolError) {
        guard levels.count > 1, let level = levels.popLast() else { return }
        var part = Part(disposition: try disposition(level.name), headers: level.headers, form: level.form)
        if let compression = level.compression { part = compressed(part, compression) }
        do {
            try levels[levels.count - 1].form.append(part)
        } catch {
            throw ToolError(error)
        }
    }

    /// A random boundary that does not begin with one of the enclosing forms', which the user may have chosen.
    private static func nestedBoundary(within outer: [Boundary]) throws(MultipartError) -> Boundary {
        for prefix in ["", "nested-", "0-", "_"] {
            let candidate = try Boundary(prefix + Boundary().description)
            if !outer.contains(where: { candidate.description.hasPrefix($0.description) }) { return candidate }
        }
        return Boundary()
    }

    // MARK: Headers

    /// The headers that a part asks for.
    ///
    /// A Content-Type among them is the part's type.
    private static func headers(_ attributes: FormSpec.Attributes) throws -> (fields: [HeaderField], type: String?) {
        var fields: [HeaderField] = []
        var type: String?
        for header in attributes.headers {
            let lines =
                switch header {
                case .line(let line): [line]
                case .file(let path): HeaderLines.parse(try Descriptor.contents(of: path, limit: 1 << 20))
                }
            for line in lines {
                guard let (name, value) = HeaderLines.split(line) else {
                    throw ToolError.usage("the header '\(printable(line))' is not like 'Name: value'")
                }
                if name.lowercased() == "content-type" {
                    type = value
                } else {
                    fields.append(try HeaderField(name, value))
                }
            }
        }
        return (fields, type)
    }
}
