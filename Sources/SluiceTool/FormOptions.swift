import Sluice

/// What the options of forms say, and the form that comes of it.
struct FormOptions: Sendable {
    /// A part's argument, kept in the order of the command line.
    private enum Argument: Sendable {
        case spec(String)
        case string(String)
    }

    private var arguments: [Argument] = []
    private var boundary: Boundary?
    private var subtype = MultipartForm.Subtype.formData
    private var escaping = NameEscaping.percent
    private var changePolicy = FileSource.ChangePolicy.snapshot
    private var compressing = FormBuilder.Compressing()

    /// Takes an option if it is one of forms.
    ///
    /// - Parameter given: The option and its value.
    /// - Returns: Whether it was.
    /// - Throws: A usage error for a value that is none of the option's.
    mutating func take(_ given: ParsedArguments.Given) throws(ToolError) -> Bool {
        do throws(MultipartError) {
            switch given.option {
            case .form: arguments.append(.spec(given.value))
            case .formString: arguments.append(.string(given.value))
            case .boundary: boundary = try Boundary(given.value)
            case .subtype: subtype = try MultipartForm.Subtype(given.value)
            case .escape, .gzipWorkers, .gzipLength: break
            case .formEscape: escaping = .backslash
            case .strictFiles: changePolicy = .strict
            default: return false
            }
        } catch {
            throw .usage(error.reason)
        }
        switch given.option {
        case .escape: try takeEscaping(given.value)
        case .gzipWorkers: try takeWorkers(given.value)
        case .gzipLength: try takeLength(given.value)
        default: break
        }
        return true
    }

    private mutating func takeWorkers(_ text: String) throws(ToolError) {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(text), (1...256).contains(count)
        else {
            throw .usage("--gzip-workers is a number from 1 to 256, not '\(printable(text))'")
        }
        compressing.workers = .init(count)
    }

    private mutating func takeLength(_ name: String) throws(ToolError) {
        guard let known = Self.lengths[name] else {
            throw .usage("--gzip-length is unknown, measured or spooled, not '\(printable(name))'")
        }
        compressing.length = known
    }

    /// What is spooled is kept in memory up to so many bytes, about what an upload takes anyway.
    private static let lengths: [String: Gzip.Length] = [
        "unknown": .unknown, "measured": .measured, "spooled": .spooled(memoryLimit: 4 << 20),
    ]

    private mutating func takeEscaping(_ name: String) throws(ToolError) {
        guard let known = Self.escapings[name] else {
            throw .usage("--escape is percent, html or backslash, not '\(printable(name))'")
        }
        escaping = known
    }

    private static let escapings: [String: NameEscaping] = [
        "percent": .percent, "html": .html, "backslash": .backslash,
    ]

    /// A form that is described in full, and the files it is made of.
    struct Described: Sendable {
        let form: MultipartForm
        let paths: [String]
    }

    /// Makes the form.
    ///
    /// - Returns: The form; nothing was read but files of headers.
    /// - Throws: A usage error where there are no parts or one is written wrongly; what is wrong with a part.
    func makeForm() throws(ToolError) -> Described {
        guard !arguments.isEmpty else {
            throw .usage("there is nothing to send; add parts with -F NAME=VALUE or -F NAME=@FILE")
        }
        let empty = MultipartForm(subtype: subtype, boundary: boundary ?? Boundary(), escaping: escaping)
        var builder = FormBuilder(empty, changePolicy: changePolicy, compressing)
        for argument in arguments {
            switch argument {
            case .spec(let text): try builder.add(text)
            case .string(let text): try builder.addString(text)
            }
        }
        return Described(form: try builder.finish(), paths: builder.paths)
    }
}

extension FormOptions.Described {
    /// Looks at the files and fixes the layout of the body.
    ///
    /// - Returns: The body.
    /// - Throws: What is wrong with the files.
    func makeBody() throws(ToolError) -> MultipartBody {
        do throws(MultipartError) {
            let body = try form.body()
            // The body opens a file only when its turn comes, which may be hours from now.
            for path in paths where path != FormSpec.standardInput { try Descriptor.checkPermission(path) }
            return body
        } catch {
            throw ToolError(error)
        }
    }
}
