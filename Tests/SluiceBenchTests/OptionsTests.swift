import Testing

@testable import SluiceBench

@Suite struct OptionsTests {
    @Test func `What is given counts, before and after --quick`() throws {
        #expect(try Options([]).rounds == 7)
        #expect(try Options(["--quick"]).rounds == 3)
        #expect(try Options(["--quick"]).mebibytes == 256)
        #expect(try Options(["--rounds", "9", "--quick"]).rounds == 9)
        #expect(try Options(["--quick", "--rounds", "9", "--size", "12"]).mebibytes == 12)
    }

    @Test(arguments: [("5%", 0.05), ("5", 0.05), ("0", 0), ("12.5%", 0.125)])
    func `A tolerance is a percentage, with or without the sign`(text: String, value: Double) throws {
        #expect(try Options(["--tolerance", text]).tolerance == value)
    }

    @Test func `Rows are chosen by any of the patterns`() throws {
        let options = try Options(["--filter", "reader-*", "--filter", "progress"])
        #expect(options.chooses("reader-file"))
        #expect(options.chooses("progress"))
        #expect(!options.chooses("upload-tool"))
    }

    @Test func `Peers are chosen when they are asked for`() throws {
        #expect(try !Options([]).chooses("peer-upload"))
        #expect(try Options(["--peers"]).chooses("peer-upload"))
        #expect(try Options(["--filter", "peer-*"]).chooses("peer-upload"))
    }
}
