import Sluice
import SluiceTestSupport
import Testing

/// RFC 2046 section 5.1.1: `boundary := 0*69<bchars> bcharsnospace`.
@Suite struct BoundaryTests {
    /// `bcharsnospace` as the RFC lists them.
    private static let bcharsnospace =
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" + "'()+_,-./:=?"

    @Test(arguments: [1, 2, 69, 70])
    func `A boundary of 1 to 70 characters is taken`(length: Int) throws {
        let text = String(repeating: "b", count: length)
        #expect(try Boundary(text).description == text)
    }

    @Test(arguments: [0, 71, 72, 255, 256, 4096, 65_536])
    func `A boundary of no or more than 70 characters is refused`(length: Int) {
        #expect(throwing(.invalidBoundary) { try Boundary(String(repeating: "b", count: length)) })
    }

    @Test func `The length is counted in bytes on the wire, not in what Swift calls characters`() {
        // 36 times CR LF are 36 characters and 72 bytes; neither CR nor LF is a bchar anyway.
        #expect(throwing(.invalidBoundary) { try Boundary(String(repeating: "\r\n", count: 36)) })
        // An e and a combining accent are one character and three bytes.
        #expect(throwing(.invalidBoundary) { try Boundary("e\u{301}") })
    }

    @Test func `Exactly the characters of the RFC are taken, wherever they stand`() {
        let allowed = Set(Self.bcharsnospace.utf8)
        for byte in UInt8.min...0x7F {
            let character = String(decoding: [byte], as: UTF8.self)
            for text in [character, character + "b", "b" + character, "b" + character + "b"] {
                let isAllowed = allowed.contains(byte) || (byte == 0x20 && text.last == "b")
                #expect(((try? Boundary(text)) != nil) == isAllowed, "byte \(byte) in \(text.debugDescription)")
            }
        }
    }

    @Test(arguments: [
        "b ", " ", "b\r", "b\n", "b\r\nX-Injected: 1", "b\0", "b\"", "b;", "b; x=y", "b\\", "b*", "b@", "b<", "b[",
        "b\t",
        "\u{E9}", "b\u{1F4A9}", "b\u{A0}",
    ])
    func `A boundary that no header or delimiter could hold is refused`(text: String) {
        #expect(throwing(.invalidBoundary) { try Boundary(text) })
    }

    @Test func `A space inside is taken, one at the end is not`() throws {
        #expect(try Boundary(" b c").description == " b c")
        #expect(throwing(.invalidBoundary) { try Boundary(" b c ") })
    }

    @Test func `The error names the boundary without passing its control characters on`() throws {
        let error = try #require(throws: MultipartError.self) { try Boundary("b\r\nc") }
        #expect(!error.description.contains("\n") && !error.description.contains("\r\n"))
    }

    @Test func `A boundary is quoted in the Content-Type exactly where it is no RFC 9110 token`() throws {
        // RFC 9110 section 5.6.2: tchar. Of the bchars these are tchar, and the others are delimiters or space.
        let tokenCharacters = Set("'+_-.".utf8)
        for byte in (Self.bcharsnospace + " ").utf8 {
            let text = "b" + String(decoding: [byte], as: UTF8.self) + "b"
            let isToken = tokenCharacters.contains(byte) || isAlphanumeric(byte)
            let form = MultipartForm(boundary: try Boundary(text))
            #expect(form.contentType == "multipart/form-data; boundary=" + (isToken ? text : "\"\(text)\""))
        }
    }

    @Test func `A million random boundaries differ, and are tokens of 27 to 70 characters`() throws {
        var seen: Set<String> = []
        for _ in 0..<1_000_000 { seen.insert(Boundary().description) }
        #expect(seen.count == 1_000_000)
        let odd = seen.filter { text in
            !(27...70).contains(text.utf8.count)
                || !text.utf8.allSatisfy { isAlphanumeric($0) || $0 == UInt8(ascii: "-") }
        }
        #expect(odd.isEmpty)
        let one = try #require(seen.first)
        #expect(MultipartForm(boundary: try Boundary(one)).contentType == "multipart/form-data; boundary=\(one)")
    }

    @Test func `Random boundaries have at least 128 bits of chance in them`() {
        // Estimated from below: the entropy of each place over many samples, which random places only add up.
        let samples = (0..<20_000).map { _ in Array(Boundary().description.utf8) }
        let length = samples.map(\.count).min() ?? 0
        var bits = 0.0
        for place in 0..<length {
            var counts: [UInt8: Int] = [:]
            for sample in samples { counts[sample[place], default: 0] += 1 }
            // The min-entropy: no letter of this place is likelier than this one.
            let likeliest = Double(counts.values.max() ?? samples.count) / Double(samples.count)
            bits += likeliest == 1 ? 0 : log2(1 / likeliest)
        }
        #expect(bits >= 128, "\(bits) bits")
    }

    @Test func `Two forms get two boundaries`() {
        #expect(MultipartForm().boundary != MultipartForm().boundary)
    }

    private func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }

    /// The binary logarithm of a number from 1 on, to a thousandth.
    private func log2(_ number: Double) -> Double {
        var (whole, rest) = (Double(number.exponent), number.significand)
        var digit = 0.5
        while digit > 0.0005 {
            rest *= rest
            if rest >= 2 {
                rest /= 2
                whole += digit
            }
            digit /= 2
        }
        return whole
    }
}
