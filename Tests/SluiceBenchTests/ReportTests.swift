import Foundation
import Testing

@testable import SluiceBench

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite struct ReportTests {
    /// One of everything that a report can hold, with text that has to be escaped.
    static let report: Report = {
        let times = [0.1, 0.11, 0.12]
        var absent = Made.row("absent", sluice: times, limit: times)
        absent.state = .absent("it is <not> installed & \"so\"")
        var failed = Made.row("failed", sluice: times, limit: times)
        failed.state = .failed("a > b")
        var race = Made.row("peer-race", mark: .unmarked, sluice: times, limit: times)
        race.absentPeers = ["R&D"]
        let counts = Made.counts(allocations: Count(least: 1, most: 2), systemCalls: Count(least: 3, most: 3))
        return Made.report(
            [
                Made.row("near", sluice: times, limit: times, counts: counts),
                Made.row("times", mark: .timeAtMost(1.3), sluice: times, limit: times),
                Made.row("far", sluice: times, limit: times.map { $0 * 20 }),
                Made.value(3, mark: .valueAtMost(1, "MiB")), race, absent, failed,
            ],
            growth: [Made.growth { $0 * 1e-6 }, Made.growth { $0 * $0 }]
        )
    }()

    @Test func `Results are the same after they were kept`() throws {
        let kept = try Report.decoded(Self.report.encoded())
        #expect(try kept.encoded() == Self.report.encoded())
        #expect(kept.rows.map(\.ratio) == Self.report.rows.map(\.ratio))
        #expect(kept.options == Self.report.options)
    }

    @Test func `A report of another format is refused`() throws {
        var old = Self.report
        old.format = 0
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("report-\(UUID()).json")
        try old.encoded().write(to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        #expect(throws: Options.Problem.self) { try Report.kept(path.path, comparableWith: Options()) }
        try Self.report.encoded().write(to: path)
        #expect(throws: Never.self) { try Report.kept(path.path, comparableWith: Options()) }
    }

    @Test func `A report is as it should be where every row is`() {
        #expect(!Self.report.isMet)
        #expect(Made.report([Made.row(sluice: [1], limit: [1])]).isMet)
        #expect(!Made.report([Made.row(sluice: [2], limit: [1])]).isMet)
        #expect(!Made.report([], growth: [Made.growth { $0 * $0 }]).isMet)
    }

    @Test func `The fastest limit counts`() {
        var result = RowResult(Row(name: "", summary: "", mark: .speedAtLeast(1)) { _, _ in .absent("") })
        let sides = [("Sluice", 2.0), ("slow", 4), ("fast", 1)].map { name, seconds in
            SideTimes(name: name, wall: [seconds, seconds], cpu: [1, 1], childrenCPU: [0, 0])
        }
        result.take(sides, bytes: 1, absent: [], isRace: false)
        #expect(result.ratio?.median == 0.5)
        result.take(sides, bytes: 1, absent: [], isRace: false)
        #expect(result.ratio?.rounds == 4)
    }

    @Test func `The page is well-formed and needs nothing from elsewhere`() throws {
        let page = Page(Self.report).html
        let parser = Elements(page)
        #expect(parser.problem == nil)
        #expect(parser.names.isSuperset(of: ["svg", "rect", "polyline", "table"]))
        #expect(parser.names.isDisjoint(with: ["script", "link", "img", "iframe"]))
        for attribute in ["src", "href", "onload"] { #expect(!parser.attributes.contains(attribute)) }
        #expect(page.contains("name=\"viewport\""))
        #expect(page.contains("prefers-color-scheme: dark"))
        #expect(!page.contains("@import") && !page.contains("url("))
        for row in Self.report.rows { #expect(page.contains(row.name)) }
        #expect(page.contains("a &gt; b") && page.contains("R&amp;D"))
    }

    @Test func `The picture is well-formed`() {
        let parser = Elements(Picture(Self.report).svg)
        #expect(parser.problem == nil)
        #expect(parser.names.contains("rect"))
    }

    @Test func `A report of nothing has a page and a picture too`() {
        let nothing = Made.report([])
        #expect(Elements(Page(nothing).html).problem == nil)
        #expect(Elements(Picture(nothing).svg).problem == nil)
    }

    @Test func `The table of the README has a line for each row, with as many cells as its head`() {
        let lines = Markdown(Self.report).text.split(separator: "\n").filter { $0.hasPrefix("|") }
        #expect(lines.count == 2 + Self.report.rows.count + Self.report.growth.count)
        let cells = lines.map { $0.replacing("\\|", with: "").count { $0 == "|" } }
        #expect(Set(cells).count == 1)
    }

    @Test func `Columns are aligned`() throws {
        let table = Table(names: Self.report.rows.map(\.name))
        let head = table.head
        let mark = try #require(head.range(of: "mark")).lowerBound.utf16Offset(in: head)
        for row in Self.report.rows where row.state == .measured && row.mark != .unmarked {
            let line = table.line(row)
            let place = try #require(line.range(of: "\(row.mark)")).lowerBound.utf16Offset(in: line)
            #expect(place == mark)
        }
    }

    @Test(arguments: [
        (0.0, 2, "0.00"), (1.005, 1, "1.0"), (-0.04, 1, "0.0"), (12.345, 2, "12.35"), (99.96, 1, "100.0"),
    ])
    func `Numbers are rounded to their places`(value: Double, places: Int, text: String) {
        #expect(fixed(value, places) == text)
    }

    @Test(arguments: [
        (0.0000431, "43.1 us"), (0.000576, "576 us"), (0.0092, "9.2 ms"), (0.555, "555 ms"), (1.63, "1.63 s"),
    ])
    func `Durations are in the unit that they are read best in`(seconds: Double, text: String) {
        #expect(duration(seconds) == text)
    }
}

/// What elements and attributes there are in a text of XML.
private final class Elements: NSObject, XMLParserDelegate {
    private(set) var names: Set<String> = []
    private(set) var attributes: Set<String> = []
    private(set) var problem: String?

    init(_ text: String) {
        super.init()
        let parser = XMLParser(data: Data(text.utf8))
        parser.delegate = self
        if !parser.parse() { problem = parser.parserError.map { "\($0)" } ?? "not parsed" }
    }

    func parser(
        _ parser: XMLParser,
        didStartElement name: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String] = [:]
    ) {
        names.insert(name)
        self.attributes.formUnion(attributes.keys)
    }
}
