import Sluice
import SluiceTestSupport
import Testing

/// Filenames that come from outside, and what they may be called in a directory.
@Suite struct SafeFilenameTests {
    private static func sanitized(_ filename: [UInt8]) throws -> String {
        let head = Array("--b\r\nContent-Disposition: form-data; name=n; filename=\"".utf8)
        var policies = ParserPolicies()
        policies.nameDecoding = .percent
        var limits = ParserLimits(fileBytes: 1, totalBytes: 1 << 20)
        limits.partHeaderBytes = 1 << 20
        let type = MultipartContentType(boundary: try Boundary("b"))
        let parts = try ParsedPart.parts(
            of: head + filename + Array("\"\r\n\r\n\r\n--b--".utf8),
            type,
            limits: limits,
            policies: policies
        )
        return try #require(parts.first?.headers.sanitizedFilename)
    }

    @Test(arguments: [
        ("a.txt", "a.txt"), ("../../etc/passwd", "passwd"), ("C:\\x\\y.txt", "y.txt"),
        ("\\\\server\\share\\f.txt", "f.txt"),
        ("..", "unnamed"), (".", "unnamed"), ("", "unnamed"), ("/", "unnamed"), ("\\", "unnamed"), ("a/", "a"),
        ("a/..", "unnamed"),
        ("...", "unnamed"), (".htaccess", "htaccess"), ("a.", "a"), ("a. .", "a"), (" a ", "a"), ("a b.txt", "a b.txt"),
        ("-rf", "_-rf"), ("CON", "_CON"), ("con.txt", "_con.txt"), ("aux .txt", "_aux .txt"), ("LPT1", "_LPT1"),
        ("com\u{B9}.x", "_com\u{B9}.x"),
        ("CONSOLE", "CONSOLE"), ("COM10", "COM10"), ("NUL.tar.gz", "_NUL.tar.gz"), ("COM0", "_COM0"),
        ("a:b", "a_b"), ("a<b>c|d?e*f", "a_b_c_d_e_f"), ("%22q%22", "_q_"), ("%0D%0Aa", "a"),
        ("a\u{202E}gpj.exe", "agpj.exe"), ("a\u{200B}b\u{FEFF}c\u{2066}d", "abcd"),
        ("a\u{7F}b\u{85}c\u{1B}[0m", "abc[0m"),
        ("\u{A0}a\u{2003}b\u{3000}", "a b"), ("\u{2028}a\u{2029}", "a"), ("\u{202E}", "unnamed"),
        ("\u{200B}.\u{200B}.", "unnamed"),
        ("\u{FEFF}.bashrc", "bashrc"), ("na\u{EF}ve \u{1F4A9}.png", "na\u{EF}ve \u{1F4A9}.png"), ("a\u{E0041}b", "ab"),
        ("a\u{3164}b", "ab"),
        ("\u{2025}/x", "x"), ("C:", "C_"), ("a/b\\c", "c"), ("~", "~"), ("con ", "_con"), ("CON/..", "unnamed"),
    ])
    func `A name is made safe to create`(filename: String, expected: String) throws {
        #expect(try Self.sanitized(Array(filename.utf8)) == expected)
    }

    @Test func `Invalid UTF-8 is repaired`() throws {
        #expect(try Self.sanitized([0x61, 0xFF, 0x2E, 0x74, 0x78, 0x74]) == "a\u{FFFD}.txt")
        // An overlong slash is none.
        #expect(try Self.sanitized([0x61, 0xC0, 0xAF, 0x62]) == "a\u{FFFD}\u{FFFD}b")
    }

    @Test(arguments: [
        (String(repeating: "a", count: 300) + ".txt", ".txt"),
        (String(repeating: "\u{E9}", count: 300) + ".tar.gz", ".gz"),
        (String(repeating: "\u{1F4A9}", count: 20_000) + ".jpeg", ".jpeg"),
        (String(repeating: "a", count: 65_536), "a"),
        ("a." + String(repeating: "b", count: 300), "b"), (String(repeating: "a. ", count: 100) + ".txt", ".txt"),
        (String(repeating: ".", count: 300) + "a.txt", "a.txt"),
    ])
    func `A long name is cut between two characters, before its extension`(filename: String, end: String) throws {
        let name = try Self.sanitized(Array(filename.utf8))
        #expect((1...255).contains(name.utf8.count) && name.hasSuffix(end) && !name.unicodeScalars.contains("\u{FFFD}"))
        if filename.utf8.count > 1000 { #expect(name.utf8.count > 251) }
    }

    @Test func `Whatever comes, the name is safe, and safe names stay as they are`() throws {
        let pieces: [[UInt8]] =
            [
                ".", "..", "/", "\\", "CON", "nul", ".txt", " ", "\t", "a", "\u{202E}", "\u{200D}", "\u{1F468}", ":",
                "-", "%22", "\u{301}",
                "COM1", "\u{FFFE}",
            ].map { Array($0.utf8) } + [
                [0x80], [0xC0], [0xED, 0xA0, 0x80], [0xF5], Array(repeating: 0x61, count: 200),
            ]
        for seed in seeds(fixed: 300, fresh: 200) {
            var random = SeededGenerator(seed: seed)
            let count = Int.random(in: 0...12, using: &random)
            let filename = (0..<count).flatMap { _ in pieces.randomElement(using: &random) ?? [] }
            let name = try Self.sanitized(filename)
            #expect(Self.problem(name) == nil, "seed \(seed)")
            #expect(try Self.sanitized(Array(name.utf8)) == name, "seed \(seed)")
        }
    }

    /// What makes a name unsafe, said another way than the sanitizer says it.
    private static func problem(_ name: String) -> String? {
        if name.isEmpty || name.utf8.count > 255 { return "length" }
        if ["/", "\\", ":", "*", "?", "\"", "<", ">", "|"].contains(where: { name.contains($0) }) {
            return "separator"
        }
        if let first = name.unicodeScalars.first, [".", " ", "-"].contains(first) { return "start" }
        if let last = name.unicodeScalars.last, [".", " "].contains(last) { return "end" }
        let forbidden: [ClosedRange<UInt32>] = [
            0...0x1F, 0x7F...0x9F, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF...0xFEFF, 0x61C...0x61C,
            0xE0000...0xE0FFF, 0xFFFE...0xFFFF,
        ]
        if name.unicodeScalars.contains(where: { scalar in forbidden.contains { $0.contains(scalar.value) } }) {
            return "control"
        }
        let stem = name.split(separator: ".", omittingEmptySubsequences: false)[0].uppercased()
        let device = stem.hasSuffix(" ") ? String(stem.dropLast(stem.reversed().prefix { $0 == " " }.count)) : stem
        if ["CON", "PRN", "AUX", "NUL"].contains(device) { return "device" }
        if device.unicodeScalars.count == 4, ["COM", "LPT"].contains(String(device.prefix(3))),
            device.last?.isNumber == true
        {
            return "device"
        }
        return nil
    }
}
