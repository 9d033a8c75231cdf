import Testing

@testable import SluiceTool

@Suite struct UnitsTests {
    @Test(arguments: [
        (0, "0 B"), (1, "1 B"), (1023, "1023 B"), (1024, "1.00 KiB"), (1500, "1.46 KiB"), (10_235, "10.0 KiB"),
        (102_348, "99.9 KiB"), (102_400, "100 KiB"), (1_048_063, "1023 KiB"), (1_048_064, "1.00 MiB"),
        (1_048_576, "1.00 MiB"), (5_368_709_120, "5.00 GiB"), (107_374_182_400, "100 GiB"),
        (Int64.max, "8.00 EiB"), (-1, "0 B"),
    ])
    func `Bytes have three digits or so`(count: Int64, text: String) {
        #expect(Units.bytes(count) == text)
    }

    @Test func `Bytes never take up more than eight columns`() {
        for exponent in 0..<60 {
            let power = Int64(1) << exponent
            for count in [power - 1, power, power + 1, power / 10_000 * 9995, power / 1000 * 9995] {
                #expect(Units.bytes(max(count, 0)).count <= 8)
            }
        }
    }

    @Test(arguments: [
        (0.0, "0:00"), (4.4, "0:04"), (59.6, "1:00"), (754.0, "12:34"), (3723.0, "1:02:03"), (360_000.0, "100:00:00"),
        (-1.0, "0:00"), (.infinity, "-:--"), (.nan, "-:--"), (1e300, "-:--"),
    ])
    func `A time has minutes, and hours where it takes them`(seconds: Double, text: String) {
        #expect(Units.duration(seconds) == text)
    }

    @Test(arguments: [("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("🎬", 2), ("", 0)])
    func `A wide character takes up two columns`(text: String, columns: Int) {
        #expect(DisplayWidth.columns(of: text) == columns)
    }

    @Test(arguments: [
        ("abcdef", 6, "abcdef"), ("abcdef", 5, "ab..."), ("日本語文字", 8, "日本..."), ("abcdef", 2, ".."), ("abcdef", 0, ""),
    ])
    func `What is too long is cut`(text: String, columns: Int, cut: String) {
        #expect(DisplayWidth.truncated(text, to: columns) == cut)
        #expect(DisplayWidth.columns(of: cut) <= columns)
    }
}
