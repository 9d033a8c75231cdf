import Glibc
import Sluice
import SluiceTestSupport
import Testing

/// Files on a disk and in memory, with holes in them: what is read is what is there, and what changed is an error.
@Suite(.timeLimit(.minutes(5))) struct FileSystemTests {
    /// Where `TMPDIR` is, and a tmpfs.
    static let places: [String?] = [nil, "/dev/shm"]

    @Test(arguments: ReadingWay.allCases, places)
    func `The holes of a sparse file are zeros`(way: ReadingWay, place: String?) async throws {
        let directory = try TemporaryDirectory(under: place)
        let size = 3 << 20
        let path = try directory.sparseFile("f", size: size)
        var content = [UInt8](repeating: 0, count: size)
        // Data at an odd place between holes, and none at the end.
        for start in [12_345, 2 << 20] {
            let data = TemporaryDirectory.noise(5000, seed: UInt64(start))
            try Files.overwrite(path, at: Int64(start), data)
            content.replaceSubrange(start..<start + data.count, with: data)
        }
        let body = try OnePart.body(FileSource(path: path, changePolicy: .strict))
        #expect(body.contentLength == Int64(OnePart.framed(content).count))
        #expect(try await difference(way.read(body, in: directory), OnePart.framed(content)) == nil)
    }

    @Test(arguments: ReadingWay.allCases)
    func `A file in memory that changes has the outcomes of one on a disk`(way: ReadingWay) async throws {
        let directory = try TemporaryDirectory(under: "/dev/shm")
        let content = TemporaryDirectory.noise(100_000)
        let path = try directory.file("f", content)
        func outcome(
            _ policy: FileSource.ChangePolicy = .snapshot,
            _ change: () throws -> Void
        ) async throws -> MultipartError.Code? {
            try directory.file("f", content)
            let body = try OnePart.body(FileSource(path: path, changePolicy: policy))
            try change()
            do {
                #expect(try await difference(way.read(body, in: directory), OnePart.framed(content)) == nil)
                return nil
            } catch let error as MultipartError {
                #expect(error.path == path && error.part?.index == 0)
                return error.code
            }
        }
        #expect(try await outcome {} == nil)
        #expect(try await outcome { try Files.append([1], to: path) } == nil)
        #expect(try await outcome(.strict) { try Files.append([1], to: path) } == .fileChanged)
        #expect(try await outcome { try Files.cut(path, to: 99_999) } == .fileShrank)
        #expect(try await outcome(.strict) { try Files.touch(path) } == .fileChanged)
        #expect(try await outcome { try Files.remove(path) } == .fileChanged)
        let replaced = try await outcome {
            try Files.move(directory.file("other", content), to: path)
        }
        #expect(replaced == .fileChanged)
    }
}
