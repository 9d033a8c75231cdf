internal import CSluiceTool
internal import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What a command line consists of, or what stands between two `--next` in it: options in order, and the rest.
struct ParsedArguments: Equatable, Sendable {
    /// An option as it was given, with its value where it takes one.
    struct Given: Equatable, Sendable {
        let option: Option
        let value: String
    }

    var options: [Given] = []
    var operands: [String] = []
}

/// Takes a command line apart, as GNU programs do: options before and after operands, `-abc`, `--long=value`, long
/// names cut short where they stay clear, and `--` before operands that look like options.
enum OptionParser {
    /// The scan's state is the C library's, and global.
    private static let scanning = Mutex(())

    /// Parses the arguments of a command that has no `--next`.
    ///
    /// - Parameters:
    ///   - arguments: The arguments, without the program's and the command's name.
    ///   - options: The options that the command has.
    /// - Returns: The options and operands.
    /// - Throws: A usage error for an option that the command does not have, or whose value is missing or too much.
    static func parse(_ arguments: [String], _ options: [Option]) throws(ToolError) -> ParsedArguments {
        try parseGroups(arguments, options)[0]
    }

    /// Parses the arguments of a command.
    ///
    /// - Parameters:
    ///   - arguments: The arguments, without the program's and the command's name.
    ///   - options: The options that the command has.
    /// - Returns: The options and operands between one `--next` and the other; one more than there are of these.
    /// - Throws: A usage error for an option that the command does not have, or whose value is missing or too much.
    static func parseGroups(_ arguments: [String], _ options: [Option]) throws(ToolError) -> [ParsedArguments] {
        let result = scanning.withLock { _ in
            Result { () throws(ToolError) in try scan(arguments, options) }
        }
        return try result.get()
    }

    private static func scan(_ arguments: [String], _ options: [Option]) throws(ToolError) -> [ParsedArguments] {
        let table = OptionTable(options)
        let vector = ArgumentVector(arguments)
        sluice_options_begin()
        var groups: [ParsedArguments] = []
        var parsed = ParsedArguments()
        while true {
            let (code, value) = vector.next(table)
            switch code {
            case -1:
                parsed.operands += vector.rest
                return groups + [parsed]
            case OptionTable.operandCode:
                parsed.operands.append(value)
            case Int32(UInt8(ascii: ":")):
                throw missingValue(table.option(for: sluice_options_refused()))
            case Int32(UInt8(ascii: "?")):
                throw refusal(table, vector)
            default:
                guard let option = table.option(for: code) else { throw .usage("option \(code) is not known") }
                if option == .next {
                    groups.append(parsed)
                    parsed = ParsedArguments()
                    continue
                }
                parsed.options.append(.init(option: option, value: value))
            }
        }
    }

    private static func missingValue(_ option: Option?) -> ToolError {
        guard let option else { return .usage("an option lacks its value") }
        return .usage("option '--\(option.rawValue)' needs a value: \(option.placeholder ?? "")")
    }

    /// Why an option was refused: `getopt_long` tells by `optopt` and by where it stopped.
    private static func refusal(_ table: OptionTable, _ vector: ArgumentVector) -> ToolError {
        let refused = sluice_options_refused()
        // The first byte of a letter that is no ASCII, as C's `char` has it.
        if refused < 0, let letter = vector.current.unicodeScalars.first(where: { !$0.isASCII }) {
            return .usage("unknown option '-\(Character(letter))'")
        }
        let argument = vector.previous
        if let option = table.option(for: refused), option.placeholder == nil, argument.hasPrefix("--") {
            return .usage("option '--\(option.rawValue)' takes no value")
        }
        if refused > 0, let letter = Unicode.Scalar(UInt32(refused)) {
            return .usage("unknown option '-\(Character(letter))'")
        }
        let name = String(argument.prefix { $0 != "=" })
        let candidates = table.options.filter { "--\($0.rawValue)".hasPrefix(name) }.map { "--\($0.rawValue)" }
        if candidates.count > 1 {
            return .usage("option '\(name)' may be \(candidates.joined(separator: " or "))")
        }
        return .usage("unknown option '\(name)'")
    }
}

/// The options in the form in which `getopt_long` wants them.
// @safe: the pointers are allocated in `init`, freed in `deinit`, and lent only to getopt_long meanwhile.
@safe
private final class OptionTable {
    let options: [Option]
    let short: String
    let long: UnsafeMutableBufferPointer<CSluiceTool.option>

    /// Where the codes of options begin; letters and getopt's own codes lie below.
    private static let firstCode: Int32 = 256
    /// The code of an argument that is no option.
    static let operandCode: Int32 = 1

    init(_ options: [Option]) {
        self.options = options
        // The hyphen keeps operands where they stand, since --next parts them as well as options. The colon makes a
        // missing value distinguishable from an unknown option.
        short = options.reduce(into: "-:") { text, option in
            guard let letter = option.letter else { return }
            text.append(letter)
            if option.placeholder != nil { text += ":" }
        }
        unsafe long = .allocate(capacity: options.count + 1)
        for (index, entry) in options.enumerated() {
            unsafe long.initializeElement(
                at: index,
                to: CSluiceTool.option(
                    name: unsafe strdup(entry.rawValue),
                    has_arg: entry.placeholder == nil ? no_argument : required_argument,
                    flag: nil,
                    val: Self.firstCode + Int32(index)
                )
            )
        }
        unsafe long.initializeElement(at: options.count, to: CSluiceTool.option())
    }

    deinit {
        unsafe long.forEach { unsafe free(UnsafeMutablePointer(mutating: $0.name)) }
        unsafe long.deallocate()
    }

    func option(for code: Int32) -> Option? {
        if code >= Self.firstCode {
            let index = Int(code - Self.firstCode)
            return options.indices.contains(index) ? options[index] : nil
        }
        guard code > 0, let scalar = Unicode.Scalar(UInt32(code)) else { return nil }
        return options.first { $0.letter == Character(scalar) }
    }
}

/// A command line as C has it.
// @safe: as above.
@safe
private final class ArgumentVector {
    private let pointers: UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>

    init(_ arguments: [String]) {
        // The first one is the program's name to getopt_long; the last one is nil.
        unsafe pointers = .allocate(capacity: arguments.count + 2)
        for (index, argument) in (["sluice"] + arguments).enumerated() {
            unsafe pointers.initializeElement(at: index, to: strdup(argument))
        }
        unsafe pointers.initializeElement(at: arguments.count + 1, to: nil)
    }

    deinit {
        unsafe pointers.forEach { unsafe free($0) }
        unsafe pointers.deallocate()
    }

    /// The next option's code and value; the code is -1 where only operands are left.
    func next(_ table: OptionTable) -> (code: Int32, value: String) {
        var value: UnsafePointer<CChar>?
        let code = unsafe sluice_options_next(
            Int32(pointers.count - 1),
            pointers.baseAddress,
            table.short,
            table.long.baseAddress,
            &value
        )
        guard let value = unsafe value else { return (code, "") }
        return (code, unsafe String(cString: value))
    }

    /// The operands behind `--`.
    var rest: [String] {
        let count = unsafe pointers.count - 1
        return (Int(sluice_options_index())..<count).compactMap { argument(at: $0) }
    }

    /// The argument whose letters are being looked at, where it has more of them.
    var current: String {
        argument(at: Int(sluice_options_index())) ?? ""
    }

    /// The argument that was looked at last.
    var previous: String {
        argument(at: Int(sluice_options_index()) - 1) ?? ""
    }

    private func argument(at index: Int) -> String? {
        guard unsafe pointers.indices.contains(index), let text = unsafe pointers[index] else { return nil }
        return unsafe String(cString: text)
    }
}
