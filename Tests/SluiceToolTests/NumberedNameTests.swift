import Testing

@testable import SluiceTool

@Suite struct NumberedNameTests {
    @Test(arguments: [
        ("photo.jpg", 1, "photo.jpg"), ("photo.jpg", 2, "photo-2.jpg"), ("README", 10, "README-10"),
        ("a.tar.gz", 2, "a.tar-2.gz"), ("a.", 2, "a-2."),
    ])
    func `The number stands before the extension`(name: String, number: Int, expected: String) {
        #expect(NumberedName.name(name, number) == expected)
    }

    @Test(arguments: [
        String(repeating: "x", count: 255), String(repeating: "ü", count: 125) + ".text",
        "a." + String(repeating: "e", count: 253), "a" + String(repeating: "\u{301}", count: 127),
    ])
    func `A long name stays one that file systems take`(name: String) {
        let numbered = NumberedName.name(name, 1234)
        #expect(numbered.utf8.count <= 255)
        #expect(numbered.unicodeScalars.first == name.unicodeScalars.first)
        #expect(numbered.contains("-1234"))
    }
}
