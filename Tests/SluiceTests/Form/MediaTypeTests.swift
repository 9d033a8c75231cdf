import Sluice
import SluiceTestSupport
import Testing

/// RFC 9110 section 8.3.1: `type "/" subtype *( OWS ";" OWS parameter )`.
@Suite struct MediaTypeTests {
    @Test(arguments: [
        "text/plain", "TEXT/Plain", "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "text/plain; charset=utf-8", "text/plain;charset=utf-8", "text/plain ; charset=utf-8",
        "text/plain\t;\tcharset=x",
        "text/plain; a=b; c=d", "text/plain; a=\"b c\"", "text/plain; a=\"\"", "text/plain; a=\"b\\\"c\"; d=e",
        "text/plain; a=\"b\\\\\"", "text/plain; a=\"\u{E9}\"", "text/plain; a=\"\tb\"", "a/b", "!/~",
        "multipart/related; type=\"text/html\"; start=\"<a@b>\"",
    ])
    func `A well-formed type is taken and sent as it is written`(text: String) throws {
        #expect(try MediaType(text).description == text)
    }

    @Test(arguments: [
        "", "text", "text/", "/plain", "/", "text//plain", "text/plain/x", " text/plain", "text /plain", "text/ plain",
        "text/plain charset=utf-8", "text/plain, text/html", "text/plain; charset", "text/plain; charset=",
        "text/plain; =x",
        "text/plain; charset =x", "text/plain; charset= x", "text/plain; a=b c", "text/plain; a=\"b",
        "text/plain; a=\"b\\",
        "text/plain; a=\"b\\\"", "text/plain; a=\"b\"c", "text/plain; a=b\"c\"", "text/plain; a=b;c", "text/pl\u{E4}in",
        "text/plain\r\nX-Injected: 1", "text/plain; a=\"\r\n\"", "text/plain; a=\"\\\r\"", "text/plain; a=\"\\\n\"",
        "text/plain\0", "text/plain; a=\"\0\"", "text/plain; a=\"\\\0\"", "text/plain\n", "text/pla(in",
        "text/plain; a=@",
    ])
    func `A malformed type is refused`(text: String) {
        #expect(throwing(.invalidMediaType) { try MediaType(text) })
    }

    @Test(arguments: ["text/plain ", "text/plain\t", "text/plain; a=b ", "text/plain; a=\"b\"  "])
    func `White space at the end belongs to no parameter and is refused`(text: String) {
        #expect(throwing(.invalidMediaType) { try MediaType(text) })
    }

    /// From IANA's registry of media types, whose registrations name the extensions, and for archives from the
    /// registered types' own specifications.
    static let registered = [
        ("txt", "text/plain"), ("html", "text/html"), ("css", "text/css"), ("csv", "text/csv"),
        ("xml", "application/xml"),
        ("json", "application/json"), ("pdf", "application/pdf"), ("zip", "application/zip"),
        ("gz", "application/gzip"),
        ("png", "image/png"), ("jpg", "image/jpeg"), ("jpeg", "image/jpeg"), ("gif", "image/gif"),
        ("webp", "image/webp"),
        ("svg", "image/svg+xml"), ("avif", "image/avif"), ("mp4", "video/mp4"), ("mp3", "audio/mpeg"),
        ("ogg", "audio/ogg"),
        ("zst", "application/zstd"), ("wasm", "application/wasm"), ("epub", "application/epub+zip"),
        ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("odt", "application/vnd.oasis.opendocument.text"), ("ics", "text/calendar"), ("rtf", "application/rtf"),
    ]

    @Test(arguments: registered)
    func `A file's type goes by its extension, in upper and lower case`(fileExtension: String, type: String) {
        for spelling in [fileExtension, fileExtension.uppercased(), fileExtension.capitalized] {
            #expect(MediaType.forFilename("a.\(spelling)").description == type)
            #expect(MediaType.forFilename("/some.dir/a.b.\(spelling)").description == type)
            #expect(MediaType.forFilename("\u{E9}\u{1F4A9}.\(spelling)").description == type)
        }
    }

    @Test(arguments: [
        "", "a", "a.", ".", "..", "...", ".txt", ".gitignore", "dir.txt/file", "dir.txt/", "dir.txt/.txt",
        "a.unheardof", "a.txt ",
        "a.t xt", "a.\u{E9}", "a.txt\u{301}", "a.\u{1F4A9}", "a.txt\n", "a.txt text/plain", "a.\n", "a.\0", "txt",
        "a." + String(repeating: "x", count: 100_000),
    ])
    func `A file without an extension that is known is a stream of octets`(filename: String) {
        #expect(MediaType.forFilename(filename).description == "application/octet-stream")
    }

    @Test(arguments: [
        "a..txt", "a.exe.txt", "..txt", " .txt", "a b.txt", "\u{E9}.txt", "e\u{301}.TXT", "/a/b/c.txt", "/.d/e.Txt",
    ])
    func `What counts is what follows the last dot of the last component`(filename: String) {
        #expect(MediaType.forFilename(filename) == .plainText)
    }
}

extension String {
    /// The first letter in upper case, the others in lower case.
    fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst().lowercased() }
}
