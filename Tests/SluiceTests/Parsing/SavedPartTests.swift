import Glibc
import Sluice
import SluiceTestSupport
import Testing

/// Contents that are written to files.
@Suite(.timeLimit(.minutes(5))) struct SavedPartTests {
    private static let head = Array("--b\r\nContent-Disposition: form-data; name=a; filename=f\r\n\r\n".utf8)
    private static let close = Array("\r\n--b--\r\n".utf8)

    private static func save(
        _ content: [UInt8],
        to path: String,
        replacing: Bool = false,
        by size: Int = 60_000,
        then end: Upstream.End = .finish,
        isWhole: Bool = true,
        limits: ParserLimits = MultipartReaderTests.limits
    ) async throws {
        let bytes = head + content + (isWhole ? close : [])
        let upstream = Upstream().chunks(chunked(bytes, [size]), then: end)
        let reader = try MultipartReader(upstream, contentType: MultipartReaderTests.type, limits: limits)
        for try await part in reader {
            #expect(try await part.save(to: path, replacing: replacing) == Int64(content.count))
        }
    }

    private static func entries(_ directory: TemporaryDirectory) throws -> [String] {
        try ChildProcess(["/bin/sh", "-c", "cd \"$0\"; echo $(ls -A)", directory.path]).readLine()?
            .split(separator: " ").map(String.init) ?? []
    }

    @Test(arguments: [0, 1, 262_143, 262_144, 262_145, 3_000_000])
    func `A saved content is the content, and its owner's only`(size: Int) async throws {
        let directory = try TemporaryDirectory()
        let content = TemporaryDirectory.noise(size)
        for chunk in [1000, 60_000, 5_000_000] {
            try await Self.save(content, to: directory.path + "/\(chunk)", by: chunk)
            #expect(difference(try TemporaryDirectory.contents(ofFile: directory.path + "/\(chunk)"), content) == nil)
            var status = stat()
            #expect(unsafe stat(directory.path + "/\(chunk)", &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
        }
        #expect(try Self.entries(directory).count == 3)
    }

    @Test func `What is there already stays, unless it is to be replaced`() async throws {
        let directory = try TemporaryDirectory()
        let path = try directory.file("f", [1])
        let error = await failure { try await Self.save([2], to: path) }
        #expect(
            error?.code == .fileExists && error?.suggestedStatus == 409 && error?.path == path
                && error?.part?.name == "a"
        )
        #expect(try TemporaryDirectory.contents(ofFile: path) == [1])
        try await Self.save([2], to: path, replacing: true)
        #expect(try TemporaryDirectory.contents(ofFile: path) == [2])
        #expect(try Self.entries(directory) == ["f"])
    }

    @Test func `A symbolic link is not followed`() async throws {
        let directory = try TemporaryDirectory()
        let target = try directory.file("target", [1])
        for (name, victim) in [("link", target), ("dangling", directory.path + "/nowhere")] {
            let link = directory.path + "/" + name
            try Files.makeLink(link, to: victim)
            #expect(await failure { try await Self.save([2], to: link) }?.code == .fileExists)
            try await Self.save([2], to: link, replacing: true)
            // The link is what was replaced.
            #expect(try TemporaryDirectory.contents(ofFile: link) == [2])
        }
        #expect(try TemporaryDirectory.contents(ofFile: target) == [1])
        #expect(try Self.entries(directory) == ["dangling", "link", "target"])
    }

    @Test func `A file that comes into being meanwhile is not replaced`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/f"
        let upstream = Upstream().chunks(chunked(Self.head + [UInt8](repeating: 2, count: 100) + Self.close, [10])) {
            number in
            if number == 9 { _ = try? directory.file("f", [1]) }
        }
        let reader = try MultipartReader(
            upstream,
            contentType: MultipartReaderTests.type,
            limits: MultipartReaderTests.limits
        )
        let error = await failure { for try await part in reader { try await part.save(to: path) } }
        #expect(error?.code == .fileExists)
        #expect(try TemporaryDirectory.contents(ofFile: path) == [1])
        #expect(try Self.entries(directory) == ["f"])
    }

    @Test func `A content that breaks off leaves nothing`() async throws {
        struct Broken: Error {}
        let directory = try TemporaryDirectory()
        let path = directory.path + "/f"
        let content = TemporaryDirectory.noise(600_000)
        var limits = MultipartReaderTests.limits
        limits.fileBytes = 500_000
        let codes = [
            await failure { try await Self.save(content, to: path, isWhole: false) }?.code,
            await failure { try await Self.save(content, to: path, then: .fail(Broken()), isWhole: false) }?.code,
            await failure { try await Self.save(content, to: path, limits: limits) }?.code,
        ]
        #expect(codes == [.unexpectedEnd, .sourceFailed, .fileTooLarge])
        #expect(try Self.entries(directory).isEmpty)
    }

    @Test func `A cancelled task leaves nothing`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/f"
        let content = TemporaryDirectory.noise(600_000)
        let upstream = Upstream()
        let chunks = upstream.chunks(chunked(Self.head + content, [60_000]), then: .wait)
        let task = Task {
            let reader = try MultipartReader(
                chunks,
                contentType: MultipartReaderTests.type,
                limits: MultipartReaderTests.limits
            )
            for try await part in reader { try await part.save(to: path) }
        }
        #expect(await eventually { upstream.asked > 11 })
        task.cancel()
        #expect(await failure { try await task.value }?.code == .cancelled)
        #expect(upstream.released == 1)
        #expect(try Self.entries(directory).isEmpty && Files.openPaths(under: directory.path).isEmpty)
    }

    @Test func `A place that cannot be written to is an error that names it`() async throws {
        let directory = try TemporaryDirectory()
        try directory.file("file", [])
        for path in ["/none/f", "/file/f", "/a\0b"].map({ directory.path + $0 }) {
            let error = await failure { try await Self.save([1], to: path) }
            #expect(error?.code == .openFailed && error?.path == path && error?.suggestedStatus == 500)
        }
        try Files.makeDirectory(directory.path + "/d")
        let error = await failure { try await Self.save([1], to: directory.path + "/d", replacing: true) }
        #expect(error?.code == .openFailed && error?.errno == EISDIR)
        unsafe rmdir(directory.path + "/d")
        #expect(try Self.entries(directory) == ["file"])
    }

    @Test func `A thousand files hold one descriptor at a time`() async throws {
        let directory = try TemporaryDirectory()
        let part = "--b\r\nContent-Disposition: form-data; name=a; filename=f\r\n\r\nv\r\n"
        let text = String(repeating: part, count: 1000) + "--b--"
        var most = 0
        for try await part in try MultipartReaderTests.reader(text, by: [7000]) {
            try await part.save(to: "\(directory.path)/\(part.headers.index)")
            most = max(most, Files.openPaths(under: directory.path).count)
        }
        #expect(most == 0)
        #expect(try Self.entries(directory).count == 1000)
    }
}
