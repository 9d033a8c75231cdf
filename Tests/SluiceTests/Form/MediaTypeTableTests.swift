import Sluice
import SluiceTestSupport
import Testing

@Suite struct MediaTypeTableTests {
    private static let lines = MediaTypeTable.entries.split(separator: "\n").map(String.init)

    @Test func `The table is sorted by bytes, which the search relies on`() {
        let extensions = Self.lines.map { Array($0.prefix { $0 != " " }.utf8) }
        for (first, second) in zip(extensions, extensions.dropFirst()) {
            #expect(first.lexicographicallyPrecedes(second))
        }
        #expect(extensions.count > 1000)
    }

    @Test func `Each entry is found, and its type is one that a header can have`() throws {
        for line in Self.lines {
            let fields = line.split(separator: " ", omittingEmptySubsequences: false)
            try #require(fields.count == 2)
            #expect(MediaTypeTable.mediaType(forExtension: fields[0]) == String(fields[1]))
            #expect(try MediaType(String(fields[1])).description == fields[1])
            #expect(!fields[1].contains(";"))
        }
    }

    @Test func `What lies between, before and behind the entries is not found`() {
        let known = Set(Self.lines.map { String($0.prefix { $0 != " " }) })
        for name in known {
            for near in [String(name.dropLast()), name + "0", name + "zz", "0" + name] where !known.contains(near) {
                #expect(MediaTypeTable.mediaType(forExtension: near) == nil, "\(near)")
            }
        }
        for odd in ["", " ", "\n", "!", "~~~~", "\u{7F}", "\u{10FFFF}"] {
            #expect(MediaTypeTable.mediaType(forExtension: odd) == nil)
        }
    }
}
