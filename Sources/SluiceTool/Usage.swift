import SluiceCurl

/// The texts of `--help` and `--version`, made from the table of options so that they cannot fall behind it.
enum Usage {
    static let version = "sluice \(sluiceVersion)"

    /// A group of options under a heading.
    typealias Group = (heading: String, options: [Option])

    /// What `sluice --help` prints.
    static var tool: String {
        """
        Usage: sluice COMMAND ...

        Makes multipart bodies, sends and receives them, takes them apart, and downloads
        files; of any size in constant memory.

        Commands:
          encode    write a multipart body to a file, a pipe or standard output
          upload    send a multipart body to a server
          download  get a file from a server
          decode    list a body's parts, or write them to files
          receive   take in uploads from browsers and other clients

        Options:
        \(list([.help, .version]))

        Each command has its own --help.

        \(exitCodes)
        """
    }

    /// What `sluice COMMAND --help` prints.
    ///
    /// - Parameters:
    ///   - synopsis: How it is called.
    ///   - purpose: What it does.
    ///   - groups: Its options.
    ///   - notes: What else is to be known, between the options and the examples.
    ///   - exampleLines: The examples, indented.
    /// - Returns: The text.
    static func command(
        _ synopsis: String,
        _ purpose: String,
        _ groups: [Group],
        notes: String? = nil,
        exampleLines: String
    ) -> String {
        let options = groups.map { "\($0.heading):\n\(list($0.options))" }.joined(separator: "\n\n")
        return """
            Usage: \(synopsis)

            \(purpose)

            \(options)
            \(notes.map { "\n\($0)\n" } ?? "")
            Examples:
            \(exampleLines)

            \(exitCodes)
            """
    }

    /// What the commands that make forms say of `-F`.
    static let formSpecification = """
        SPEC is what curl's -F takes:
          NAME=VALUE        a field; NAME="a;b" where it has semicolons or outer blanks
          NAME=<FILE        a field with the file's content; - is standard input
          NAME=@FILE        a file; - is standard input
          NAME=@FILE,FILE   several files of that name
          NAME=( ... =)     a part that is made of the parts between the two
        and behind each value or file
          ;type=TYPE        its media type; goes by the file's name unless given
          ;filename=NAME    the name to send; the path's last component unless given
          ;headers="A: b"   a header of the part; may be repeated
          ;headers=@FILE    the headers that stand in FILE
          ;gzip             compressed, as a file NAME.gz; ;gzip=9 for a level, 0 to 9
          ;content-encoding=gzip
                            compressed, with that header and under its own name and
                            type: for receivers that are known to honour it
        """

    private static var exitCodes: String {
        let lines = ExitCode.allCases.map { code in
            "  \(DisplayWidth.padded("\(code.rawValue)", to: 8))  \(code.meaning)"
        }
        return "Exit status:\n" + lines.joined(separator: "\n")
            + "\n  130, 143  ended by Ctrl-C or SIGTERM, as shells show it"
    }

    // MARK: Options

    /// The column in which the explanations stand.
    private static let margin = 28

    private static func list(_ options: [Option]) -> String {
        options.flatMap(lines).joined(separator: "\n")
    }

    private static func lines(_ option: Option) -> [String] {
        let letter = option.letter.map { "-\($0), " } ?? "    "
        let value = option.placeholder.map { " \($0)" } ?? ""
        let names = "  \(letter)--\(option.rawValue)\(value)"
        let indent = String(repeating: " ", count: margin)
        let help = option.help.map { indent + $0 }
        guard names.count <= margin - 2, let first = option.help.first else { return [names] + help }
        return [names + String(repeating: " ", count: margin - names.count) + first] + help.dropFirst()
    }
}
