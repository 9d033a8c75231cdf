import Testing

@testable import SluiceTool

@Suite struct FormSpecTests {
    /// The examples of curl's manual for `-F`, with what it says that they mean.
    static let manual: [(argument: String, name: String?, spec: FormSpec)] = [
        ("profile=@portrait.jpg", "profile", .files([.init(path: "portrait.jpg")])),
        ("name=John", "name", .value("John", .init())),
        ("story=<hugefile.txt", "story", .content(of: "hugefile.txt", .init())),
        ("web=@index.html;type=text/html", "web", .files([file("index.html", type: "text/html")])),
        ("name=daniel;type=text/foo", "name", .value("daniel", .init(type: "text/foo"))),
        (
            "file=@localfile;filename=nameinpost", "file",
            .files([file("localfile", filename: "nameinpost")])
        ),
        (
            #"file=@"local,file";filename="name;in;post""#, "file",
            .files([file("local,file", filename: "name;in;post")])
        ),
        (
            #"colors="red; green; blue";type=text/x-myapp"#, "colors",
            .value("red; green; blue", .init(type: "text/x-myapp"))
        ),
        (
            #"submit=OK;headers="X-submit-type: OK""#, "submit",
            .value("OK", .init(headers: [.line("X-submit-type: OK")]))
        ),
        ("submit=OK;headers=@headerfile", "submit", .value("OK", .init(headers: [.file("headerfile")]))),
        ("=(;type=multipart/alternative", nil, .begin(.init(type: "multipart/alternative"))),
        ("=plain text message", nil, .value("plain text message", .init())),
        (
            "= <body>HTML message</body>;type=text/html", nil,
            .value("<body>HTML message</body>", .init(type: "text/html"))
        ),
        ("=)", nil, .end),
        ("=@textfile.txt", nil, .files([.init(path: "textfile.txt")])),
    ]

    /// What curl 7.88 was seen to make of it.
    static let observed: [(argument: String, name: String?, spec: FormSpec)] = [
        ("a=", "a", .value("", .init())),
        ("a==b", "a", .value("=b", .init())),
        ("a=b=c", "a", .value("b=c", .init())),
        (" a =b", " a ", .value("b", .init())),
        (#""a"=b"#, #""a""#, .value("b", .init())),
        ("a=)", "a", .value(")", .init())),
        // Blanks around an unquoted word do not count.
        ("a= b\t ", "a", .value("b", .init())),
        (#"a=" b ""#, "a", .value(" b ", .init())),
        (#"a=" b " ;type=text/x"#, "a", .value(" b ", .init(type: "text/x"))),
        ("a=@ x ", "a", .files([.init(path: "x")])),
        ("a=< x ", "a", .content(of: "x", .init())),
        ("a=@x ; type= text/html ; filename= y ", "a", .files([file("x", type: "text/html", filename: "y")])),
        // Within quotes, `\"` and `\\` are undone, and nothing else.
        (#"a="b\"c\\d\e""#, "a", .value(#"b"c\d\e"#, .init())),
        (#"a=b\"c"#, "a", .value(#"b\"c"#, .init())),
        // A quote that is not closed is an ordinary character.
        (#"a="b"#, "a", .value(#""b"#, .init())),
        (#"a="b\"c"#, "a", .value(#""b\"c"#, .init())),
        // The @ and < count in front only.
        ("a=b@c", "a", .value("b@c", .init())),
        (#"a="@b""#, "a", .value("@b", .init())),
        ("a= @b", "a", .value("@b", .init())),
        // Commas separate files, and nothing else.
        ("a=@x,y", "a", .files([.init(path: "x"), .init(path: "y")])),
        ("a=b,c", "a", .value("b,c", .init())),
        ("a=<x,y", "a", .content(of: "x,y", .init())),
        (
            #"a=@x;type=text/a,"y,z";filename=q"#, "a",
            .files([file("x", type: "text/a"), file("y,z", filename: "q")])
        ),
        // Keywords may be in upper case, and a semicolon with nothing behind it does not count.
        ("a=b;TYPE=text/x", "a", .value("b", .init(type: "text/x"))),
        ("a=b;;type=text/x;", "a", .value("b", .init(type: "text/x"))),
        ("a=b; ", "a", .value("b", .init())),
        // What follows a type belongs to it, until a keyword.
        (
            "a=@x;type=text/html; charset=utf-8 ;filename=y", "a",
            .files([file("x", type: "text/html; charset=utf-8", filename: "y")])
        ),
        ("a=b;type=text/a;type=text/b", "a", .value("b", .init(type: "text/a;type=text/b"))),
        ("a=b;type=text/a;filename=x;type=text/b", "a", .value("b", .init(type: "text/b", filename: "x"))),
        ("a=b;filename=", "a", .value("b", .init(filename: ""))),
        ("a=b;filename=x;filename=y", "a", .value("b", .init(filename: "y"))),
        (
            #"a=b;headers="A: b;c";headers=D:e;headers=< f"#, "a",
            .value("b", .init(headers: [.line("A: b;c"), .line("D:e"), .file("f")]))
        ),
        ("a=(", "a", .begin(.init())),
        ("a=( ", "a", .begin(.init())),
        (#"a="(b)""#, "a", .value("(b)", .init())),
        ("ä=ö;filename=ü", "ä", .value("ö", .init(filename: "ü"))),
    ]

    private static func file(_ path: String, type: String? = nil, filename: String? = nil) -> FormSpec.File {
        .init(path: path, attributes: .init(type: type, filename: filename))
    }

    @Test(arguments: manual + observed)
    func `An argument means what it means to curl`(argument: String, name: String?, spec: FormSpec) throws {
        let parsed = try FormSpec.parse(argument)
        #expect(parsed.name == name)
        #expect(parsed.spec == spec)
    }

    @Test(arguments: [
        ("a", FormSpecError.noEqualsSign),
        ("", .noEqualsSign),
        ("a=@", .noPath),
        ("a=@ ;type=text/x", .noPath),
        ("a=@x,", .noPath),
        ("a=@,x", .noPath),
        ("a=<", .noPath),
        (#"a=@"""#, .noPath),
        ("a=b;headers=@", .noPath),
        ("a=b;type=foo", .invalidType("foo")),
        ("a=b;type=", .invalidType("")),
        ("a=b;type=/x", .invalidType("/x")),
        ("a=b;type=x/", .invalidType("x/")),
        ("a=b;type=x/\t;gzip", .invalidType("x/\t")),
        ("a=b;type= x /y", .invalidType("x /y")),
        ("a=b;c", .unknownAttribute("c")),
        ("a=b; typ=text/x", .unknownAttribute("typ=text/x")),
        ("a=b;filename=x;charset=y", .unknownAttribute("charset=y")),
        ("a=b;encoder=base64", .encoder),
        ("a=<b;filename=c", .filenameWithoutFile),
        ("a=(;filename=c", .filenameWithoutFile),
        (#"a="b"c"#, .textAfterQuote("c")),
        (#"a=@x;filename="b" "c""#, .textAfterQuote(#" "c""#)),
        ("a=(b)", .textAfterParenthesis("b)")),
        ("=)", nil),
        ("=) ", nil),
    ])
    func `What curl would send otherwise than written is refused`(argument: String, error: FormSpecError?) {
        do throws(FormSpecError) {
            _ = try FormSpec.parse(argument)
            #expect(error == nil)
        } catch let thrown {
            #expect(thrown == error)
            #expect(!thrown.description.isEmpty)
        }
    }

    @Test func `Every argument gives a result, whatever its bytes are`() {
        var generator = SystemRandomNumberGenerator()
        let alphabet = Array(#"a=@<(),;"\ ."#) + ["type=", "filename=", "headers=", "encoder=", "a/b", "é", "\n"]
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...12, using: &generator)
            let argument = (0..<count).map { _ in "\(alphabet[Int.random(in: alphabet.indices, using: &generator)])" }
                .joined()
            _ = try? FormSpec.parse(argument)
            _ = try? FormSpec.parse("a=" + argument)
        }
    }

    @Test(arguments: [
        ("a=b", "a", "b"), ("a=@b;type=text/x", "a", "@b;type=text/x"), (#"a="b""#, "a", #""b""#),
        ("a= b ", "a", " b "),
        ("a==", "a", "="),
    ])
    func `A literal value is everything behind the first equals sign`(
        argument: String,
        name: String,
        value: String
    ) throws {
        let split = try FormSpec.split(argument)
        #expect(split.name == name)
        #expect(split.value == value)
    }
}
