import Glibc
import Sluice
import SluiceTestSupport
import Testing

/// What has a path and is no file that could be sent: an error that says which part and why, when the body is made.
@Suite struct UnfitFileTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func error(_ path: String) throws -> MultipartError {
        var form = MultipartForm()
        try form.addField(name: "first", value: "")
        try form.addFile(name: "second", path: path, filename: "f")
        let error = try #require(failure(of: { try form.body() }))
        #expect(error.part?.name == "second" && error.part?.index == 1)
        #expect(error.path == path)
        return error
    }

    @Test func `A missing file`() throws {
        let error = try error("\(directory.path)/missing")
        #expect(error.code == .openFailed && error.errno == ENOENT)
        #expect(error.description.contains("No such file or directory"))
    }

    @Test func `An empty path`() throws {
        let error = try error("")
        #expect(error.code == .openFailed && error.errno == ENOENT)
    }

    @Test func `A path through a file`() throws {
        let error = try error(directory.file("f", []) + "/f")
        #expect(error.code == .openFailed && error.errno == ENOTDIR)
    }

    @Test func `A path that is too long`() throws {
        let error = try error("\(directory.path)/" + String(repeating: "x", count: 300))
        #expect(error.code == .openFailed && error.errno == ENAMETOOLONG)
    }

    @Test func `A path with a NUL in it, which the system would take for its end`() throws {
        let path = try directory.file("secret", [65])
        #expect(try error(path + "\0.png").code == .openFailed)
        #expect(try error("\0").code == .openFailed)
    }

    @Test func `A directory`() throws {
        #expect(try error(directory.path).code == .notReadable)
        #expect(try error(directory.path + "/").code == .notReadable)
    }

    @Test func `A descriptor of a directory`() throws {
        let source = FileSource(descriptor: try Files.descriptor(of: directory.path), ownership: .owned)
        let error = try #require(failure(of: { try OnePart.body(source) }))
        #expect(error.code == .notReadable && error.part?.index == 0)
    }

    @Test func `A socket's path`() throws {
        let path = "\(directory.path)/s"
        try Files.makeSocket(path)
        #expect(try error(path).code == .notReadable)
    }

    @Test func `A link to nothing, and one to itself`() throws {
        try Files.makeLink("\(directory.path)/dangling", to: "\(directory.path)/missing")
        #expect(try error("\(directory.path)/dangling").errno == ENOENT)
        try Files.makeLink("\(directory.path)/loop", to: "\(directory.path)/loop")
        #expect(try error("\(directory.path)/loop").errno == ELOOP)
    }

    @Test func `A link to a file is the file`() throws {
        try Files.makeLink("\(directory.path)/link.txt", to: try directory.file("f", [65, 66]))
        var form = MultipartForm(boundary: try Boundary("b"))
        try form.addFile(name: "n", path: "\(directory.path)/link.txt")
        let expected = ReferencePart.formData(name: "n", filename: "link.txt", type: "text/plain", content: [65, 66])
        #expect(try difference(form.body().bytes(), ReferenceEncoder.encode(boundary: "b", [expected])) == nil)
    }

    @Test(arguments: [0, 10])
    func `A file that may not be read`(size: Int) async throws {
        let path = try directory.file("f", [UInt8](repeating: 1, count: size))
        #expect(unsafe chmod(path, 0) == 0)
        #expect(unsafe chmod(directory.path, 0o755) == 0)
        // In a process of its own, because the superuser may read anything and has to become somebody else.
        await #expect(processExitsWith: .success) { [path = path as String] in
            let error = try await Superuser.asNobody {
                try #require(failure(of: { try OnePart.body(FileSource(path: path)) }))
            }
            #expect(error.code == .openFailed && error.errno == EACCES && error.path == path)
            #expect(error.part?.index == 0)
        }
    }

    @Test func `A file whose directory may not be entered`() async throws {
        try Files.makeDirectory("\(directory.path)/d")
        let path = try directory.file("d/f", [1])
        #expect(unsafe chmod("\(directory.path)/d", 0) == 0)
        await #expect(processExitsWith: .success) { [path = path as String] in
            let error = try await Superuser.asNobody {
                try #require(failure(of: { try OnePart.body(FileSource(path: path)) }))
            }
            #expect(error.code == .openFailed && error.errno == EACCES)
        }
    }

    @Test func `A descriptor that is not open`() throws {
        let source = FileSource(descriptor: 1_000_000, ownership: .borrowed)
        let error = try #require(failure(of: { try OnePart.body(source) }))
        #expect(error.code == .openFailed && error.errno == EBADF)
    }

    @Test func `A descriptor that is open for writing only`() throws {
        let path = try directory.file("f", [1])
        let source = FileSource(descriptor: try Files.descriptor(of: path, O_WRONLY), ownership: .owned)
        let error = try #require(failure(of: { try OnePart.body(source).bytes() }))
        #expect(error.errno == EBADF && error.part?.index == 0)
    }

    @Test(arguments: ["/dev/null", "/proc/version"])
    func `A range of what has no fixed length`(path: String) throws {
        let error = try #require(failure(of: { try OnePart.body(FileSource(path: path, range: 0..<1)) }))
        #expect(error.code == .invalidRange && error.path == path)
    }
}
