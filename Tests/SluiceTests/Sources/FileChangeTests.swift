import Glibc
import Sluice
import SluiceTestSupport
import Testing

/// Files that change between `body()` and the last byte read: never a wrong body, always an error that says so.
@Suite struct FileChangeTests {
    typealias Way = ReadingWay

    private static let size = 100_000
    private let directory: TemporaryDirectory
    private let path: String
    private let content = TemporaryDirectory.noise(Self.size)

    init() throws {
        directory = try TemporaryDirectory()
        path = try directory.file("f", content)
    }

    private func body(_ policy: FileSource.ChangePolicy, range: Range<Int64>? = nil) throws -> MultipartBody {
        try OnePart.body(FileSource(path: path, range: range, changePolicy: policy))
    }

    private func read(_ body: MultipartBody, _ way: Way) async throws -> [UInt8] {
        try await way.read(body, in: directory)
    }

    private func expect(
        _ code: MultipartError.Code,
        _ body: MultipartBody,
        _ way: Way,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let error = await failure { try await read(body, way) }
        #expect(error?.code == code, sourceLocation: sourceLocation)
        #expect(error?.part?.index == 0 && error?.path == path, sourceLocation: sourceLocation)
    }

    @Test(arguments: Way.allCases)
    func `A file that nobody touches can be read under either policy, again and again`(way: Way) async throws {
        for policy in [FileSource.ChangePolicy.snapshot, .strict] {
            let body = try body(policy)
            for _ in 0..<2 { #expect(try await difference(read(body, way), OnePart.framed(content)) == nil) }
        }
    }

    @Test(arguments: Way.allCases)
    func `A file that grew is cut at the size first seen, or an error under the strict policy`(way: Way) async throws {
        let (snapshot, strict) = (try body(.snapshot), try body(.strict))
        try Files.append([1, 2, 3], to: path)
        #expect(try await difference(read(snapshot, way), OnePart.framed(content)) == nil)
        try await expect(.fileChanged, strict, way)
    }

    @Test(arguments: Way.allCases)
    func `A file that shrank is an error`(way: Way) async throws {
        let (snapshot, strict) = (try body(.snapshot), try body(.strict))
        try Files.cut(path, to: Int64(Self.size) - 1)
        try await expect(.fileShrank, snapshot, way)
        let error = await failure { try await read(strict, way) }
        #expect(error?.code == .fileShrank || error?.code == .fileChanged)
        try Files.cut(path, to: 0)
        try await expect(.fileShrank, snapshot, way)
    }

    @Test(arguments: Way.allCases)
    func `What a file loses behind the range that is sent does not matter, except under the strict policy`(
        way: Way
    ) async throws {
        let (snapshot, strict) = (try body(.snapshot, range: 10..<500), try body(.strict, range: 10..<500))
        try Files.cut(path, to: 500)
        #expect(try await read(snapshot, way) == OnePart.framed(Array(content[10..<500])))
        try await expect(.fileChanged, strict, way)
        try Files.cut(path, to: 499)
        try await expect(.fileShrank, snapshot, way)
    }

    @Test(arguments: Way.allCases)
    func `A file that was touched is an error under the strict policy only`(way: Way) async throws {
        let (snapshot, strict) = (try body(.snapshot), try body(.strict))
        try Files.touch(path)
        #expect(try await difference(read(snapshot, way), OnePart.framed(content)) == nil)
        try await expect(.fileChanged, strict, way)
    }

    @Test(arguments: Way.allCases)
    func `A file that was replaced by another one of the same content is an error`(way: Way) async throws {
        let (snapshot, strict) = (try body(.snapshot), try body(.strict))
        try Files.move(try directory.file("other", content), to: path)
        try await expect(.fileChanged, snapshot, way)
        try await expect(.fileChanged, strict, way)
    }

    @Test(arguments: Way.allCases)
    func `A file that was deleted and made anew is another one, although it may have the old one's inode`(
        way: Way
    ) async throws {
        let (snapshot, strict) = (try body(.snapshot), try body(.strict))
        try await letTheClockTick()
        try Files.remove(path)
        try directory.file("f", content)
        try await expect(.fileChanged, snapshot, way)
        try await expect(.fileChanged, strict, way)
    }

    /// File systems date files by the kernel's timer, which ticks at least a hundred times a second.
    private func letTheClockTick() async throws { try await Task.sleep(for: .milliseconds(50)) }

    @Test(arguments: Way.allCases)
    func `A file that was replaced by something else is an error, not a wait`(way: Way) async throws {
        let body = try body(.snapshot)
        try await letTheClockTick()
        try Files.remove(path)
        try Files.makeFIFO(path)
        try await expect(.fileChanged, body, way)
        try Files.remove(path)
        try Files.makeDirectory(path)
        try await expect(.fileChanged, body, way)
        unsafe rmdir(path)
        try Files.makeSocket(path)
        // A socket cannot even be opened.
        try await expect(.openFailed, body, way)
        try Files.remove(path)
        try Files.makeLink(path, to: "/dev/zero")
        try await expect(.fileChanged, body, way)
    }

    @Test func `A file that may not be read any more when its turn comes is an error that says so`() async {
        await #expect(processExitsWith: .success) {
            let test = try FileChangeTests()
            let bodies = try [test.body(.snapshot), test.body(.strict)]
            #expect(unsafe chmod(test.path, 0) == 0)
            #expect(unsafe chmod(test.directory.path, 0o777) == 0)
            try await Superuser.asNobody {
                for body in bodies {
                    for way in Way.allCases {
                        let error = await failure { try await test.read(body, way) }
                        #expect(error?.code == .openFailed && error?.errno == EACCES)
                        #expect(error?.path == test.path && error?.part?.index == 0)
                        #expect(error?.reason.contains("permissions") == true)
                    }
                }
            }
        }
    }

    @Test(arguments: Way.allCases)
    func `A file that was deleted is an error that says so`(way: Way) async throws {
        let body = try body(.snapshot)
        try Files.remove(path)
        try await expect(.fileChanged, body, way)
        let error = try #require(failure(of: { try body.bytes() }))
        #expect(error.errno == ENOENT && error.reason.contains("deleted"))
    }

    @Test(arguments: Way.allCases)
    func `An empty file is looked at again, too`(way: Way) async throws {
        try Files.cut(path, to: 0)
        let (snapshot, strict) = (try body(.snapshot), try body(.strict))
        #expect(try await read(strict, way) == OnePart.framed([]))
        try Files.append([1], to: path)
        #expect(try await read(snapshot, way) == OnePart.framed([]))
        try await expect(.fileChanged, strict, way)
        try Files.remove(path)
        try await expect(.fileChanged, snapshot, way)
    }

    /// Reads some of the body, lets the file change, and reads on.
    private func readAcross(
        _ policy: FileSource.ChangePolicy,
        _ change: () throws -> Void
    ) throws -> (bytes: [UInt8], error: MultipartError?) {
        let reader = try body(policy).makeReader()
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1000)
        var error: MultipartError?
        var changed = false
        while error == nil {
            error = failure {
                let count = try unsafe buffer.withUnsafeMutableBytes { unsafe try reader.read(into: $0) }
                if count == 0 { throw MultipartError(.cancelled, "the end") }
                bytes += buffer[..<count]
            }
            if !changed, bytes.count > Self.size / 2 {
                try change()
                changed = true
            }
        }
        return (bytes, error?.code == .cancelled ? nil : error)
    }

    @Test func `A file that is cut while it is read is an error, and no byte of it was wrong`() throws {
        let (bytes, error) = try readAcross(.snapshot) { try Files.cut(path, to: 70_000) }
        #expect(error?.code == .fileShrank && error?.part?.index == 0 && error?.path == path)
        #expect(difference(bytes, Array(OnePart.framed(content)[..<(OnePart.head.count + 70_000)])) == nil)
        #expect(error?.reason.contains("70000") == true)
    }

    @Test func `A file that grows while it is read is cut, or an error under the strict policy`() throws {
        let (bytes, error) = try readAcross(.snapshot) { try Files.append([1, 2, 3], to: path) }
        #expect(difference(bytes, OnePart.framed(content)) == nil && error == nil)
        #expect(try readAcross(.strict) { try Files.append([1, 2, 3], to: path) }.error?.code == .fileChanged)
    }

    @Test func `A file that is touched while it is read is an error under the strict policy only`() throws {
        let (bytes, error) = try readAcross(.snapshot) { try Files.touch(path) }
        #expect(difference(bytes, OnePart.framed(content)) == nil && error == nil)
        #expect(try readAcross(.strict) { try Files.append([], to: path) }.error == nil)
        #expect(try readAcross(.strict) { try Files.overwrite(path, at: 0, [1]) }.error?.code == .fileChanged)
    }

    @Test func `A file that is deleted while it is read is read to its end`() throws {
        let (bytes, error) = try readAcross(.strict) { try Files.remove(path) }
        #expect(difference(bytes, OnePart.framed(content)) == nil && error == nil)
    }

    @Test func `A file that may not be read any more while it is read is read to its end`() async {
        await #expect(processExitsWith: .success) {
            let test = try FileChangeTests()
            #expect(unsafe chown(test.path, 65_534, 65_534) == 0 || geteuid() != 0)
            #expect(unsafe chmod(test.directory.path, 0o755) == 0)
            // To open it again would fail.
            try await Superuser.asNobody {
                let (bytes, error) = try test.readAcross(.strict) { #expect(unsafe chmod(test.path, 0) == 0) }
                #expect(difference(bytes, OnePart.framed(test.content)) == nil && error == nil)
                #expect(unsafe access(test.path, R_OK) != 0 || open(test.path, O_RDONLY) < 0)
            }
        }
    }

    @Test func `A file that is replaced while it is read is read as it was`() throws {
        for policy in [FileSource.ChangePolicy.snapshot, .strict] {
            let (bytes, error) = try readAcross(policy) {
                try Files.move(directory.file("other", [1, 2, 3]), to: path)
            }
            #expect(difference(bytes, OnePart.framed(content)) == nil && error == nil)
            try directory.file("f", content)
        }
    }
}
