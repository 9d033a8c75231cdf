import Testing

@testable import SluiceTool

@Suite struct HeaderLinesTests {
    @Test func `The example of curl's manual holds two headers`() {
        let text = """
            # This file contain two headers.
            X-header-1: this is a header

            # The following header is folded.
            X-header-2: this is
             another header

            """
        #expect(
            HeaderLines.parse(Array(text.utf8)) == [
                "X-header-1: this is a header", "X-header-2: this is another header",
            ]
        )
    }

    @Test(arguments: [
        ("", []),
        ("\r\n\n", []),
        ("A: b", ["A: b"]),
        ("A: b \t\r\nC: d\r\n", ["A: b", "C: d"]),
        ("A: #b\n #c\n#d\n", ["A: #b #c"]),
        ("A: b\n\n\tc\n", ["A: b\tc"]),
        (" \nA: b\n", ["A: b"]),
    ])
    func `Comments, empty lines and carriage returns do not count`(text: String, headers: [String]) {
        #expect(HeaderLines.parse(Array(text.utf8)) == headers)
    }

    @Test(arguments: [
        ("A: b", "A", "b"), ("A:b", "A", "b"), ("A:  b c \t", "A", "b c"), ("A:", "A", ""), ("A: ", "A", ""),
        ("A: b: c", "A", "b: c"),
    ])
    func `A header is split at its first colon`(line: String, name: String, value: String) throws {
        let split = try #require(HeaderLines.split(line))
        #expect(split.name == name)
        #expect(split.value == value)
    }

    @Test func `A line without a colon is no header`() {
        #expect(HeaderLines.split("abc") == nil)
    }
}
