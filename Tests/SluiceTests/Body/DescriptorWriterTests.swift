import Glibc
import Sluice
import SluiceTestSupport
import Testing

/// Writing to descriptors of every kind must give what reading gives, and go the way that the kernel has for it.
@Suite(.timeLimit(.minutes(10))) struct DescriptorWriterTests {
    enum Target: CaseIterable, Sendable {
        case file, appendingFile, fileElsewhere, pipe, socket, loopback, nonBlockingSocket, nonBlockingPipe
    }

    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Writes the body, and gives what arrived and the report.
    private func write(
        _ body: MultipartBody,
        to target: Target,
        step: Int = 64 * 1024
    ) async throws -> (bytes: [UInt8], report: WriteReport) {
        let channel: Channel
        switch target {
        case .file, .appendingFile:
            let flags = O_WRONLY | O_CREAT | O_TRUNC | (target == .file ? 0 : O_APPEND)
            return try await writeFile(body, "\(directory.path)/target", flags)
        case .fileElsewhere:
            let path = "/dev/shm/sluice-test-\(UInt64.random(in: 0...UInt64.max))"
            defer { try? Files.remove(path) }
            return try await writeFile(body, path, O_WRONLY | O_CREAT | O_EXCL)
        case .pipe, .nonBlockingPipe: channel = try Channel.pipe()
        case .socket, .nonBlockingSocket: channel = try Channel.socketPair()
        case .loopback: channel = try Channel.loopback()
        }
        if target == .nonBlockingPipe || target == .nonBlockingSocket {
            _ = fcntl(channel.writeEnd, F_SETFL, O_NONBLOCK)
        }
        var size: Int32 = 5000
        if target == .nonBlockingSocket {
            unsafe setsockopt(channel.writeEnd, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        let report = Box<WriteReport>()
        let bytes = try await channel.collect(step: step) { report.value = try body.write(to: $0) }
        return (bytes, try #require(report.value))
    }

    private func writeFile(
        _ body: MultipartBody,
        _ path: String,
        _ flags: Int32
    ) async throws -> (bytes: [UInt8], report: WriteReport) {
        let report = try await onThread {
            let descriptor = try Files.descriptor(of: path, flags)
            defer { close(descriptor) }
            return try body.write(to: descriptor)
        }
        return (try TemporaryDirectory.contents(ofFile: path), report)
    }

    @Test(arguments: Target.allCases, [true, false])
    func `Every kind of source reaches every kind of target`(target: Target, isLengthKnown: Bool) async throws {
        let sample = try SampleForm(isLengthKnown: isLengthKnown)
        let (bytes, report) = try await write(sample.form.body(), to: target, step: 11)
        #expect(difference(bytes, sample.expected) == nil)
        #expect(report.bytes == Int64(sample.expected.count))
    }

    @Test(arguments: Target.allCases)
    func `Large files, memory and streams arrive unharmed, however slow the reader`(target: Target) async throws {
        let content = TemporaryDirectory.noise((1 << 20) + 12_345)
        let path = try directory.file("f", content)
        let source = try Channel.pipe()
        let body = try MultipartForm(subtype: .mixed, boundary: Boundary("b")) {
            Part(disposition: nil, mediaType: nil, file: FileSource(path: path))
            Part(disposition: nil, mediaType: nil, bytes: content)
            Part(disposition: nil, mediaType: nil, file: FileSource(path: path, range: 100..<70_000))
            Part(
                disposition: nil,
                mediaType: nil,
                source: .once(generator(of: content, step: 50_000)) as GeneratorSource
            )
            Part(disposition: nil, mediaType: nil, file: FileSource(descriptor: source.readEnd, ownership: .owned))
        }.body()
        async let fed: Void = onThread {
            defer { close(source.writeEnd) }
            try writeAll(content, to: source.writeEnd)
        }
        let (bytes, report) = try await write(body, to: target, step: 3000)
        try await fed
        let contents = [content, content, Array(content[100..<70_000]), content, content]
        let parts = contents.map { ReferencePart(headers: [], content: .bytes($0)) }
        #expect(difference(bytes, ReferenceEncoder.encode(boundary: "b", parts)) == nil)
        #expect(report.bytes == Int64(bytes.count))
    }

    @Test(arguments: seeds(fixed: 12, fresh: 8), Target.allCases)
    func `Random forms come out as the reference encoder writes them`(seed: UInt64, target: Target) async throws {
        let directory = directory
        let file: RandomForm.Source = { content, filename in
            let path = try directory.file("\(UInt64.random(in: 0...UInt64.max))", content)
            return .file("n", path: path, filename: filename)
        }
        let async: RandomForm.Source = { content, filename in
            .file("n", AsyncSource(stream(of: chunked(content, [1, 100, 3000]))), filename: filename)
        }
        var forms = RandomForm(seed: seed, sources: RandomForm.plainSources + [file, file, file, async])
        let (form, expected, _) = try forms.next()
        #expect(try await difference(write(form.body(), to: target).bytes, expected) == nil, "seed \(seed)")
    }

    /// What a file of so many bytes goes by, on Linux 5.19 and later, from no multiple of a page to another place.
    static let ways: [(target: Target, size: Int, method: WriteReport.Method)] = [
        (.file, 5_000, .copyFileRange), (.file, 2 << 20, .splice), (.loopback, 2 << 20, .readWrite),
        (.appendingFile, 5_000, .readWrite),
        (.fileElsewhere, 5_000, .sendFile), (.pipe, 5_000, .splice), (.pipe, 2 << 20, .splice),
        (.socket, 5_000, .sendFile),
        (.socket, 2 << 20, .splice), (.nonBlockingSocket, 2 << 20, .splice), (.nonBlockingPipe, 2 << 20, .splice),
    ]

    @Test(arguments: ways)
    func `A file goes by the kernel's way to the target`(
        target: Target,
        size: Int,
        method: WriteReport.Method
    ) async throws {
        let content = TemporaryDirectory.noise(size)
        let body = try OnePart.body(FileSource(path: directory.file("f", content)))
        let (bytes, report) = try await write(body, to: target)
        #expect(difference(bytes, OnePart.framed(content)) == nil)
        #expect(report.bytesByMethod == [method: Int64(size), .gather: Int64(OnePart.framed([]).count)])
    }

    @Test func `A file whose blocks lie alike in both files is copied by the file system`() async throws {
        let content = TemporaryDirectory.noise(2 << 20)
        // Behind a head of seven bytes comes the file's eighth.
        let range = Int64(OnePart.head.count)..<Int64(content.count)
        let body = try OnePart.body(FileSource(path: directory.file("f", content), range: range))
        let (bytes, report) = try await write(body, to: .file)
        #expect(difference(bytes, OnePart.framed(Array(content[OnePart.head.count...]))) == nil)
        #expect(report.bytesByMethod[.copyFileRange] == range.upperBound - range.lowerBound)
    }

    @Test(arguments: [
        (Target.file, WriteReport.Method.splice), (.pipe, .splice), (.socket, .splice), (.appendingFile, .readWrite),
    ])
    func `A pipe is spliced to the target`(target: Target, method: WriteReport.Method) async throws {
        let source = try Channel.pipe()
        try writeAll([UInt8](repeating: 7, count: 5000), to: source.writeEnd)
        close(source.writeEnd)
        let body = try OnePart.body(FileSource(descriptor: source.readEnd, ownership: .owned))
        let (bytes, report) = try await write(body, to: target)
        #expect(difference(bytes, OnePart.framed([UInt8](repeating: 7, count: 5000))) == nil)
        #expect(report.bytesByMethod[method] == 5000)
    }

    @Test(arguments: Target.allCases)
    func `Generators and sequences go through a buffer, memory is gathered`(target: Target) async throws {
        let content = TemporaryDirectory.noise(1000)
        let body = try MultipartForm(subtype: .mixed, boundary: Boundary("b")) {
            Part(disposition: nil, mediaType: nil, source: .once(generator(of: content)) as GeneratorSource)
            Part(disposition: nil, mediaType: nil, bytes: content)
            Part(disposition: nil, mediaType: nil, source: AsyncSource(stream(of: [content])))
        }.body()
        let (bytes, report) = try await write(body, to: target)
        #expect(report.bytesByMethod == [.readWrite: 2000, .gather: Int64(bytes.count - 2000)])
    }

    @Test func `More pieces of memory than one call takes arrive in order`() async throws {
        let body = try MultipartForm(subtype: .mixed, boundary: Boundary("b")) {
            for number in 0..<3000 {
                Part(
                    disposition: nil,
                    mediaType: nil,
                    bytes: [UInt8](repeating: UInt8(number % 251), count: number % 5)
                )
            }
        }.body()
        for target in [Target.file, .nonBlockingSocket] {
            let (bytes, report) = try await write(body, to: target, step: 100)
            #expect(try difference(bytes, body.bytes()) == nil)
            #expect(report.bytesByMethod == [.gather: Int64(bytes.count)])
        }
    }

    @Test func `A file is written from its offset on, and left open behind the last byte`() throws {
        let path = try directory.file("target", Array("0123456789".utf8))
        let descriptor = try Files.descriptor(of: path, O_RDWR)
        defer { close(descriptor) }
        lseek(descriptor, 4, SEEK_SET)
        let body = try OnePart.body(FileSource(path: directory.file("f", Array("abc".utf8))))
        try body.write(to: descriptor)
        #expect(lseek(descriptor, 0, SEEK_CUR) == off_t(4 + OnePart.framed(Array("abc".utf8)).count))
        let expected = Array("0123".utf8) + OnePart.framed(Array("abc".utf8))
        #expect(try TemporaryDirectory.contents(ofFile: path) == expected)
    }

    @Test func `A null device takes everything`() throws {
        let descriptor = try Files.descriptor(of: "/dev/null", O_WRONLY)
        defer { close(descriptor) }
        let body = try OnePart.body(FileSource(path: directory.file("f", [UInt8](repeating: 1, count: 100_000))))
        #expect(try body.write(to: descriptor).bytes == body.contentLength)
    }

    @Test func `A body of one reading is written once`() async throws {
        let body = try OnePart.body(.once(generator(of: [1])) as GeneratorSource)
        #expect(try await write(body, to: .file).bytes == OnePart.framed([1]))
        #expect(await failure { try await write(body, to: .file) }?.code == .notReplayable)
    }
}
