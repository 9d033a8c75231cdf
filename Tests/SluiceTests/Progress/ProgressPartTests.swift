import Sluice
import SluiceTestSupport
import Synchronization
import Testing

/// Which part a report names, and how far it says that the part is.
@Suite struct ProgressPartTests {
    private final class Reports: Sendable {
        private let list = Mutex<[TransferProgress]>([])
        var all: [TransferProgress] { list.withLock { $0 } }
        func add(_ progress: TransferProgress) { list.withLock { $0.append(progress) } }
    }

    private func check(_ reports: [TransferProgress]) {
        #expect(!reports.isEmpty)
        for report in reports {
            guard let part = report.part else { continue }
            #expect(part.completedBytes <= part.totalBytes ?? .max, "\(part)")
        }
        let indexes = reports.compactMap(\.part?.index)
        #expect(indexes == indexes.sorted())
    }

    @Test func `A part's head is no part of its content`() throws {
        let reports = Reports()
        let body = try MultipartForm { for name in ["a", "b", "c"] { Part.field(name, "x") } }.body()
        let null = try Files.descriptor(of: "/dev/null", 1)
        defer { Files.close(null) }
        try body.write(to: null) { reports.add($0) }
        check(reports.all)
        #expect(reports.all.first?.part?.completedBytes == 0)
        #expect(reports.all.last?.part?.label.name == "c")
    }

    @Test func `Before an awaited part the report does not name the last one`() async throws {
        let reports = Reports()
        let body = try MultipartForm {
            Part.field("a", "x")
            Part.file("b", AsyncSource(Upstream().chunks([[1, 2, 3]])), filename: "b")
            Part.file("c", bytes: [UInt8](repeating: 1, count: 1000), filename: "c")
        }.body()
        for try await _ in body.chunks(ofSize: 100_000, progress: { reports.add($0) }) {}
        check(reports.all)
        #expect(reports.all.first?.part?.label.name == "b")
        #expect(reports.all.first?.part?.completedBytes == 0)
    }
}
