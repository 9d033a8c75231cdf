import Foundation
import Sluice
import SluiceFoundation
import SluiceTestSupport
import Testing

/// Parts made from Foundation's types, and bodies made into them.
@Suite struct FoundationPartsTests {
    private let scratch: TemporaryDirectory

    init() throws {
        scratch = try TemporaryDirectory()
    }

    // MARK: Data

    @Test("A Data is sent byte for byte, in whatever form it comes", arguments: [0, 1, 14, 15, 16, 100_000])
    func data(count: Int) throws {
        let bytes = pattern(count)
        let longer = Data([1, 2] + bytes + [3])
        for data in [
            Data(bytes), longer[2..<2 + count], longer.subdata(in: 2..<2 + count), NSData(data: Data(bytes)) as Data,
            Data(Data(bytes)),
        ] {
            let part = Part.file("f", data: data, filename: "x.png")
            #expect(try content(of: part) == bytes)
            #expect(part.mediaType?.description == "image/png")
        }
    }

    @Test("A Data made of pieces is sent whole")
    func pieces() throws {
        var dispatched = DispatchData.empty
        for piece in [[1, 2, 3], [4], [5, 6]] as [[UInt8]] {
            unsafe piece.withUnsafeBytes { unsafe dispatched.append($0) }
        }
        #expect(try content(of: .file("f", data: Data(dispatched), filename: "x")) == [1, 2, 3, 4, 5, 6])
    }

    @Test("A Data is held and not copied: its memory is read when the body is")
    func held() async throws {
        // Memory that changes behind the back of the Data shows who looks at it when.
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 1)
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 1)
        let data = unsafe Data(
            bytesNoCopy: try #require(memory.baseAddress),
            count: memory.count,
            deallocator: .custom { pointer, _ in unsafe pointer.deallocate() }
        )
        let body = try body(of: .file("f", data: data, filename: "x"))
        var form = FormData()
        form.addFile(name: "f", filename: "x", mimeType: "image/png", data: data)
        let strict = try form.body()
        let slice = try self.body(of: .file("f", data: data[100...], filename: "x"))
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 2)
        for bytes in [
            try content(of: body), try content(of: strict), try content(of: slice), Array(form.encode().dropLast(100)),
        ] {
            #expect(!bytes.contains(1))
            #expect(bytes.count { $0 == 2 } >= (1 << 20) - 200)
        }

        let address = unsafe data.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        #expect(self.address(of: HeldBytes(collecting: data)) == address, "as a chunk of an async sequence")
        #expect(self.address(of: HeldBytes(collecting: data[100...])) == address + 100)
    }

    @Test("Changing the variable afterwards does not change the part")
    func changed() throws {
        var data = Data(pattern(1000))
        let part = Part.file("f", data: data, filename: "x")
        data[0] = 99
        data.append(1)
        #expect(try content(of: part) == pattern(1000))
    }

    @Test("A form takes a Data with a MIME type, and says so when it is none")
    func form() throws {
        var form = MultipartForm()
        try form.addFile(name: "a", filename: "a.bin", mimeType: "image/gif", data: Data([1]))
        try form.addFile(name: "b", filename: "b.gif", data: Data([2]))
        #expect(form.parts.map(\.mediaType?.description) == ["image/gif", "image/gif"])
        let error = #expect(throws: MultipartError.self) {
            try form.addFile(name: "c", filename: "c", mimeType: "gif", data: Data())
        }
        #expect(error?.code == .invalidMediaType)
        #expect(form.parts.count == 2)
    }

    @Test("An async sequence of Data is sent chunk by chunk")
    func chunks() async throws {
        let source = AsyncSource.restartable {
            AsyncStream<Data> { continuation in
                for start in stride(from: 0, to: 1000, by: 100) {
                    continuation.yield(Data(pattern(1000))[start..<start + 100])
                }
                continuation.finish()
            }
        }
        let body = try self.body(of: .file("f", source, filename: "x"))
        var bytes: [UInt8] = []
        for try await chunk in body.chunks() { bytes += chunk }
        #expect(bytes == (try await onThread { Result { try body.collect(upTo: .max) } }.get()))
        #expect(bytes.count { $0 == 250 } == 3)
    }

    // MARK: Bodies as Data

    @Test("A body is collected into a Data", arguments: SampleBody.allCases)
    func collect(sample: SampleBody) async throws {
        let body = try sample.form(in: scratch).body()
        let (data, bytes) = try await onThread {
            Result { (try body.data(upTo: .max), try body.collect(upTo: .max)) }
        }.get()
        #expect(Array(data) == bytes)
    }

    @Test("A limit holds to the byte, known length or not", arguments: [true, false], [-1, 0, 1])
    func limit(isKnown: Bool, room: Int) throws {
        let count = 200_000
        let source = GeneratorSource.restartable(knownLength: isKnown ? Int64(count) : nil) {
            var left = count
            return { buffer in
                while buffer.freeCapacity > 0, left > 0 {
                    buffer.append(0x78)
                    left -= 1
                }
            }
        }
        let body = try body(of: .file("f", source, filename: "x"))
        let total = try body.collect(upTo: .max).count
        if room < 0 {
            let error = #expect(throws: MultipartError.self) { try body.data(upTo: total + room) }
            #expect(error?.code == .limitExceeded)
        } else {
            #expect(try body.data(upTo: total + room).count == total)
        }
    }

    @Test("What reading throws, collecting throws")
    func collectError() throws {
        let file = try scratch.fileURL("gone", [1, 2, 3])
        var form = MultipartForm()
        try form.addFile(name: "gone", url: file)
        let body = try form.body()
        try FileManager.default.removeItem(at: file)
        let error = #expect(throws: MultipartError.self) { try body.data(upTo: .max) }
        #expect(error?.code == .fileChanged)
    }

    // MARK: URLs

    @Test(
        "A file's URL is read like its path",
        arguments: ["plain.txt", "with space.txt", "ümläut%20.txt", "a?b#c.txt"]
    )
    func url(name: String) throws {
        let file = try scratch.fileURL(name, pattern(1000))
        let part = try Part.file("f", url: file)
        #expect(try content(of: part) == pattern(1000))
        #expect(part.disposition?.filename == name)
        #expect(part.mediaType?.description == "text/plain")
        #expect(try content(of: .file("f", try FileSource(url: file, range: 10..<20))) == Array(pattern(1000)[10..<20]))
    }

    @Test("A relative URL is read relative to its base")
    func relativeURL() throws {
        _ = try scratch.fileURL("file.txt", [1, 2])
        let url = URL(fileURLWithPath: "file.txt", relativeTo: scratch.url.appendingPathComponent("x"))
        #expect(try content(of: .file("f", url: url)) == [1, 2])
    }

    @Test("A URL that is not a file's is refused at once", arguments: ["https://example.org/a", "data:,x", "relative"])
    func foreignURL(text: String) throws {
        let url = try #require(URL(string: text))
        let error = #expect(throws: MultipartError.self) { try FileSource(url: url) }
        #expect(error?.code == .notReadable)
        var form = MultipartForm()
        #expect(throws: MultipartError.self) { try form.addFile(name: "f", url: url) }
        #expect(form.parts.isEmpty)
    }

    @Test("A NUL in a URL or path does not make it another file's", arguments: [true, false])
    func nul(asURL: Bool) throws {
        let file = try scratch.fileURL("secret", [1])
        let source = asURL ? try FileSource(url: try #require(URL(string: "\(file.absoluteString)%00.png"))) : nil
        let error = #expect(throws: MultipartError.self) {
            try content(of: .file("f", source ?? FileSource(path: file.path + "\0.png"), filename: "x"))
        }
        #expect(error?.code == .openFailed)
    }

    // MARK: File handles

    @Test("A file handle is sent from where it stands, does not move, and may be closed")
    func fileHandle() throws {
        let file = try scratch.fileURL("file", pattern(1000))
        let handle = try FileHandle(forReadingFrom: file)
        try handle.seek(toOffset: 300)
        let body = try body(of: .file("f", try FileSource(fileHandle: handle), filename: "x"))
        #expect(try content(of: body) == Array(pattern(1000)[300...]))
        #expect(try handle.offset() == 300)
        try handle.close()
        #expect(try content(of: body) == Array(pattern(1000)[300...]))
    }

    @Test("What a file handle was open for is closed with its source")
    func fileHandleDescriptor() throws {
        let file = try scratch.fileURL("file", [1])
        var handle: FileHandle? = try FileHandle(forReadingFrom: file)
        var source: FileSource? = try handle.map { try FileSource(fileHandle: $0) }
        #expect(descriptorsOpen(for: file.path) == 2)
        handle = nil
        #expect(descriptorsOpen(for: file.path) == 1)
        #expect(source != nil)
        source = nil
        #expect(descriptorsOpen(for: file.path) == 0)
    }

    @Test("A pipe's file handle is read to its end")
    func pipe() throws {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data([1, 2, 3]))
        try pipe.fileHandleForWriting.close()
        let body = try body(of: .file("f", try FileSource(fileHandle: pipe.fileHandleForReading), filename: "x"))
        #expect(body.contentLength == nil)
        #expect(try content(of: body) == [1, 2, 3])
    }

    @Test("A file handle that is closed is refused")
    func closedFileHandle() throws {
        let handle = try FileHandle(forReadingFrom: try scratch.fileURL("file", [1]))
        try handle.close()
        let error = #expect(throws: MultipartError.self) { try FileSource(fileHandle: handle) }
        #expect(error?.code == .openFailed)
    }

    // MARK: Helpers

    private func address(of bytes: HeldBytes) -> UInt {
        unsafe bytes.withBytes { UInt(bitPattern: $0.baseAddress) }
    }

    private func body(of part: Part) throws -> MultipartBody {
        var form = MultipartForm()
        try form.append(part)
        return try form.body()
    }

    private func content(of part: Part) throws -> [UInt8] {
        try content(of: body(of: part))
    }

    /// What is between the part's head and the close-delimiter.
    private func content(of body: MultipartBody) throws -> [UInt8] {
        let bytes = try body.collect(upTo: .max)
        let blank = Array("\r\n\r\n".utf8)
        let head = try #require(bytes.indices.first { bytes[$0...].starts(with: blank) })
        let end = try #require(bytes.indices.last { bytes[$0...].starts(with: Array("\r\n--".utf8)) })
        return Array(bytes[(head + 4)..<end])
    }
}
