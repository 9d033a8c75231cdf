import Testing

@testable import SluiceTool

@Suite struct OptionParserTests {
    private let options: [Option] = [.form, .fail, .verbose, .output, .progress, .printLength, .printContentType]

    private func parse(_ arguments: String...) throws(ToolError) -> ParsedArguments {
        try OptionParser.parse(arguments, options)
    }

    private func given(_ option: Option, _ value: String = "") -> ParsedArguments.Given {
        .init(option: option, value: value)
    }

    @Test func `Options may stand before and after operands`() throws {
        let parsed = try parse("-F", "a=b", "url", "--fail", "second", "-F", "c=d")
        #expect(parsed.options == [given(.form, "a=b"), given(.fail), given(.form, "c=d")])
        #expect(parsed.operands == ["url", "second"])
    }

    @Test(arguments: [
        ["-F", "a=b"], ["-Fa=b"], ["--form", "a=b"], ["--form=a=b"], ["--fo", "a=b"], ["--fo=a=b"],
    ])
    func `A value may be given in every way that GNU knows`(arguments: [String]) throws {
        #expect(try OptionParser.parse(arguments, options).options == [given(.form, "a=b")])
    }

    @Test func `Letters may be bundled`() throws {
        #expect(try parse("-fvo", "x").options == [given(.fail), given(.verbose), given(.output, "x")])
    }

    @Test func `--next parts operands as well as options`() throws {
        let options = options + [.next]
        let groups = try OptionParser.parseGroups(
            ["a", "-f", "--next", "-F", "--next", "b", "--next", "--", "--next", "-f"],
            options
        )
        #expect(groups.map(\.operands) == [["a"], ["b"], ["--next", "-f"]])
        #expect(groups.map(\.options) == [[given(.fail)], [given(.form, "--next")], []])
    }

    @Test func `Two hyphens end the options`() throws {
        let parsed = try parse("-f", "--", "-v", "--form")
        #expect(parsed.options == [given(.fail)])
        #expect(parsed.operands == ["-v", "--form"])
    }

    @Test func `A single hyphen is an operand, and a value`() throws {
        let parsed = try parse("-", "-o", "-")
        #expect(parsed.options == [given(.output, "-")])
        #expect(parsed.operands == ["-"])
    }

    @Test func `Empty values stay`() throws {
        let parsed = try parse("-o", "", "--form=", "")
        #expect(parsed.options == [given(.output), given(.form)])
        #expect(parsed.operands == [""])
    }

    @Test func `Nothing gives nothing`() throws {
        #expect(try parse() == ParsedArguments())
    }

    @Test(arguments: [
        (["-q"], "unknown option '-q'"),
        (["-fq"], "unknown option '-q'"),
        (["--nothing"], "unknown option '--nothing'"),
        (["url", "--nothing=x", "y"], "unknown option '--nothing'"),
        (["--header", "x"], "unknown option '--header'"),
        (["-F"], "option '--form' needs a value: SPEC"),
        (["--output"], "option '--output' needs a value: FILE"),
        (["--fail=1"], "option '--fail' takes no value"),
        (["--pri"], "option '--pri' may be --print-length or --print-content-type"),
        (["--f"], "option '--f' may be --form or --fail"),
    ])
    func `What is wrong is said in the user's words`(arguments: [String], message: String) {
        #expect(throws: ToolError(.usage, message)) { try OptionParser.parse(arguments, options) }
    }

    @Test(arguments: ["é", "\u{80}", "\u{FF}", "ß", "→", "😀", "\u{301}", "\u{10FFFF}"])
    func `A letter that is no ASCII is refused as it is`(letter: String) {
        for argument in ["-\(letter)", "-f\(letter)", "-vf\(letter)x", "-\(letter)\(letter)"] {
            let expected = ToolError(.usage, "unknown option '-\(letter)'")
            #expect(throws: expected) { try OptionParser.parse([argument], options) }
            #expect(throws: expected) { try OptionParser.parse(["url", "-f", argument, "-F"], options) }
        }
    }

    @Test func `Whatever is given is taken or refused`() {
        let scalars = (1...0x17F).compactMap { Unicode.Scalar($0) } + ["\u{FFFD}", "\u{FEFF}", "\u{1F600}"]
        for scalar in scalars {
            let text = String(scalar)
            for argument in [
                text, "-\(text)", "--\(text)", "-F\(text)", "-f\(text)", "--form\(text)", "--\(text)=x", "-\(text)=",
            ] {
                for arguments in [[argument], ["-f", argument], [argument, argument], ["--", argument]] {
                    do throws(ToolError) {
                        let parsed = try OptionParser.parse(arguments, options)
                        #expect(parsed != ParsedArguments() || arguments.allSatisfy { $0 == "--" }, "\(arguments)")
                    } catch {
                        #expect(error.exitCode == .usage && !error.message.isEmpty, "\(arguments)")
                    }
                }
            }
        }
    }

    @Test func `Commands can be parsed on many threads`() async {
        await withTaskGroup { group in
            for number in 0..<100 {
                group.addTask {
                    let parsed = try? OptionParser.parse(["url\(number)", "-F", "a=\(number)"], [.form])
                    #expect(parsed?.operands == ["url\(number)"])
                    #expect(parsed?.options.first?.value == "a=\(number)")
                }
            }
        }
    }

    @Test func `No command has two options of one letter or name`() {
        for groups in [EncodeCommand.groups, UploadCommand.groups, DownloadCommand.groups] {
            let all = groups.flatMap(\.options)
            #expect(Set(all).count == all.count)
            #expect(Set(all.compactMap(\.letter)).count == all.compactMap(\.letter).count)
        }
    }
}
