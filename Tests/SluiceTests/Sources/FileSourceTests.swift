import Glibc
import Sluice
import SluiceTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct FileSourceTests {
    private let directory: TemporaryDirectory
    private let content = TemporaryDirectory.noise(10_000)

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test(arguments: [0, 1, 4095, 4096, 4097, 65_536, 1_000_001], [1000, 4096, 65_536])
    func `A file is read whole, whatever its size and the buffer's`(size: Int, bufferSize: Int) throws {
        let content = TemporaryDirectory.noise(size)
        let body = try OnePart.body(FileSource(path: directory.file("f", content)))
        #expect(body.contentLength == Int64(OnePart.framed(content).count))
        #expect(body.replay == .seekable && !body.mayBlock)
        #expect(try difference(body.bytes(bufferSize: bufferSize), OnePart.framed(content)) == nil)
        #expect(Files.openPaths(under: directory.path).isEmpty)
    }

    @Test(arguments: ["a.txt", "\u{E9}\u{1F4A9}.png", "a \"b\".json", "no extension", ".hidden", "a\nb.css"])
    func `A file's name and type go by its path`(name: String) throws {
        var form = MultipartForm(boundary: try Boundary("b"))
        try form.addFile(name: "n", path: directory.file(name, content))
        let expected = ReferencePart.formData(
            name: "n",
            filename: name,
            type: MediaType.forFilename(name).description,
            content: content
        )
        #expect(try difference(form.body().bytes(), ReferenceEncoder.encode(boundary: "b", [expected])) == nil)
    }

    @Test func `The caller's filename and type come before the path's`() throws {
        let path = try directory.file("a.txt", [65])
        var form = MultipartForm(boundary: try Boundary("b"))
        try form.addFile(name: "n", path: path, filename: "b.png")
        try form.addFile(name: "n", path: path, mimeType: "application/json")
        try form.append(.file("n", FileSource(descriptor: 0, ownership: .borrowed)))
        #expect(
            form.parts.map(\.disposition?.filename) == ["b.png", "a.txt", ""]
                && form.parts.map(\.mediaType?.description) == [
                    "image/png", "application/json", "application/octet-stream",
                ]
        )
    }

    @Test(
        arguments: [0..<0, 0..<1, 0..<10_000, 1..<9_999, 4096..<8192, 9_999..<10_000, 10_000..<10_000] as [Range<Int64>]
    )
    func `A range of a file is just that`(range: Range<Int64>) throws {
        let path = try directory.file("f", content)
        let expected = OnePart.framed(Array(content[Int(range.lowerBound)..<Int(range.upperBound)]))
        let body = try OnePart.body(FileSource(path: path, range: range))
        #expect(body.contentLength == Int64(expected.count))
        #expect(try difference(body.bytes(bufferSize: 1000), expected) == nil)

        let descriptor = try Files.descriptor(of: path)
        defer { close(descriptor) }
        let borrowed = FileSource(descriptor: descriptor, ownership: .borrowed, range: range)
        #expect(try difference(OnePart.body(borrowed).bytes(), expected) == nil)
    }

    @Test(arguments: [-1..<1, 0..<10_001, 10_001..<10_001, Int64.min..<Int64.max, 10_000..<10_001] as [Range<Int64>])
    func `A range that does not lie within the file is refused when the body is made`(range: Range<Int64>) throws {
        let path = try directory.file("f", content)
        let error = try #require(failure(of: { try OnePart.body(FileSource(path: path, range: range)) }))
        #expect(error.code == .invalidRange && error.path == path && error.part?.index == 0)
    }

    @Test(arguments: [0, 1, 5_000, 10_000, 20_000] as [Int64])
    func `A borrowed descriptor is read from its offset, which stays, and is not closed`(offset: Int64) throws {
        let descriptor = try Files.descriptor(of: directory.file("f", content))
        defer { close(descriptor) }
        lseek(descriptor, off_t(offset), SEEK_SET)
        let expected = OnePart.framed(Array(content.dropFirst(Int(offset))))
        do {
            let body = try OnePart.body(FileSource(descriptor: descriptor, ownership: .borrowed))
            #expect(body.contentLength == Int64(expected.count))
            for _ in 0..<2 { #expect(try difference(body.bytes(bufferSize: 777), expected) == nil) }
            // What counts is the offset when the body was made.
            lseek(descriptor, 3, SEEK_SET)
            #expect(try difference(body.bytes(), expected) == nil)
        }
        #expect(lseek(descriptor, 0, SEEK_CUR) == 3)
    }

    @Test func `An owned descriptor is closed when the last reader is gone, and not before`() throws {
        let path = try directory.file("f", content)
        func isOpen() -> Bool { Files.openPaths(under: directory.path) == [path] }
        var source: FileSource? = FileSource(descriptor: try Files.descriptor(of: path), ownership: .owned)
        var body: MultipartBody? = try OnePart.body(try #require(source))
        source = nil
        #expect(isOpen())
        var reader = try body?.makeReader()
        body = nil
        #expect(isOpen())
        #expect(try difference(reader?.rest(bufferSize: 100) ?? [], OnePart.framed(content)) == nil)
        reader = nil
        #expect(!isOpen())
    }

    @Test func `An owned descriptor that nobody reads is closed as well`() throws {
        let path = try directory.file("f", content)
        do {
            let descriptor = try Files.descriptor(of: path)
            _ = Part.file("n", FileSource(descriptor: descriptor, ownership: .owned))
        }
        #expect(Files.openPaths(under: directory.path).isEmpty)
    }

    @Test func `A file that was deleted while its descriptor is open can still be sent`() throws {
        let path = try directory.file("f", content)
        let descriptor = try Files.descriptor(of: path)
        let body = try OnePart.body(FileSource(descriptor: descriptor, ownership: .owned))
        try Files.remove(path)
        #expect(try difference(body.bytes(), OnePart.framed(content)) == nil)
    }

    @Test func `A file is opened by the reader that comes to it, and closed when that leaves it`() throws {
        let path = try directory.file("f", content)
        let file = Part(disposition: nil, mediaType: nil, file: FileSource(path: path))
        let body = try MultipartForm(subtype: .mixed, boundary: Boundary("b")) {
            Part(disposition: nil, mediaType: nil, bytes: [1])
            file
            Part(disposition: nil, mediaType: nil, bytes: [2])
        }.body()
        #expect(Files.openPaths(under: directory.path).isEmpty)
        let range = try #require(body.contentRanges[1])
        let reader = try body.makeReader()
        var buffer = [UInt8](repeating: 0, count: 1)
        var openAt: [Int64] = []
        for offset in 0..<(body.contentLength ?? 0) {
            _ = try unsafe buffer.withUnsafeMutableBytes { unsafe try reader.read(into: $0) }
            if offset % 500 == 0 || offset == range.upperBound || offset == range.lowerBound {
                if !Files.openPaths(under: directory.path).isEmpty { openAt.append(offset) }
            }
        }
        #expect(openAt.first == range.lowerBound)
        #expect(openAt.allSatisfy { range.contains($0) } && openAt.count > 10)
    }

    @Test func `A reader closes its file at its own end, too, where that lies within the file`() throws {
        let body = try OnePart.body(FileSource(path: directory.file("f", content))).slice(10..<1000)
        let reader = try body.makeReader()
        #expect(try reader.rest(bufferSize: 100).count == 990)
        #expect(Files.openPaths(under: directory.path).isEmpty)
        withExtendedLifetime(reader) {}
    }

    @Test(.enabled(if: MemoryLayout<Int>.size == 8))
    func `Offsets beyond four gibibytes are exact`() throws {
        let size: Int64 = 5 << 30
        let path = try directory.sparseFile("f", size: Int(size))
        let mark = Array("the end".utf8)
        try Files.overwrite(path, at: size - 7, mark)
        let body = try OnePart.body(FileSource(path: path))
        let length = try #require(body.contentLength)
        #expect(length == size + Int64(OnePart.framed([]).count))
        let from = length - Int64(OnePart.tail.count) - 9
        #expect(try body.bytes(from: from) == [0, 0] + mark + OnePart.tail)
        #expect(try body.slice(from..<from + 4).bytes() == [0, 0] + mark.prefix(2))

        let range = FileSource(path: path, range: size - 3..<size)
        #expect(try OnePart.body(range).bytes() == OnePart.framed(Array("end".utf8)))
    }

    @Test func `Ten thousand small files are read with one descriptor to spare`() async throws {
        for number in 0..<100 { try directory.file("f\(number)", [UInt8(number)]) }
        await #expect(processExitsWith: .success) { [path = directory.path as String] in
            var form = MultipartForm(subtype: .mixed, boundary: try Boundary("b"))
            for number in 0..<10_000 {
                let file = FileSource(path: "\(path)/f\(number % 100)")
                try form.append(Part(disposition: nil, mediaType: nil, file: file))
            }
            // One more than the highest that is open.
            let spare = dup(0)
            close(spare)
            var limit = rlimit(rlim_cur: rlim_t(spare) + 1, rlim_max: rlim_t(spare) + 1)
            #expect(unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            let parts = (0..<10_000).map { ReferencePart(headers: [], content: .bytes([UInt8($0 % 100)])) }
            #expect(try difference(form.body().bytes(), ReferenceEncoder.encode(boundary: "b", parts)) == nil)
        }
    }
}
