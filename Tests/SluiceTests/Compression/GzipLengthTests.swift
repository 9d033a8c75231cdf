import Glibc
import SluiceTestSupport
import Synchronization
import Testing

@testable import Sluice

/// Compressed parts whose length is known before they are sent.
@Suite(.timeLimit(.minutes(10))) struct GzipLengthTests {
    private static let content = GzipSamples.text(500_000)

    static let lengths: [Gzip.Length] = [.measured, .spooled(memoryLimit: 10 << 20), .spooled(memoryLimit: 1000)]

    private func part(_ source: some ByteSource, _ length: Gzip.Length, workers: Gzip.Workers = 1) -> Part {
        var part = Part(disposition: nil, mediaType: nil, source: source).gzip(workers: workers, length: length)
        part.mediaType = nil
        return part
    }

    @Test(arguments: lengths, [1, 2])
    func `The length is exact, and the bytes are the same`(length: Gzip.Length, workers: Int) async throws {
        for size in [0, 1, 131_072, Self.content.count] {
            let source = ScriptedSource(Array(Self.content.prefix(size)), replay: .restartable, step: 99_999)
            let member = try GzipSamples.member(source)
            let body = try OnePart.body(part(source, length, workers: .init(workers)))
            let framed = OnePart.framed(member)
            #expect(body.contentLength == Int64(framed.count))
            for bufferSize in [1000, 50_000, 400_000] {
                #expect(try difference(body.bytes(bufferSize: bufferSize), framed) == nil)
            }
            for offset in [1, 10, framed.count / 2, framed.count - 1, framed.count] {
                #expect(try difference(body.bytes(from: Int64(offset)), Array(framed.dropFirst(offset))) == nil)
            }
            let middle = Int64(framed.count / 3)..<Int64(framed.count * 2 / 3)
            let slice = try body.slice(middle).bytes()
            #expect(difference(slice, Array(framed[Int(middle.lowerBound)..<Int(middle.upperBound)])) == nil)
            #expect(try difference(await Array(body.chunks(ofSize: 77_777).all().joined()), framed) == nil)
            let written = try await Channel.pipe().collect { try body.write(to: $0) }
            #expect(difference(written, framed) == nil)
        }
    }

    @Test(arguments: [0, 1000, 10 << 20])
    func `What can be read once can be spooled, and is then read from anywhere`(limit: Int) async throws {
        let channel = try Channel.filled(with: Self.content)
        let source = FileSource(descriptor: channel.readEnd, ownership: .owned)
        var part = Part(disposition: nil, mediaType: nil, file: source)
        part = part.gzip(length: .spooled(memoryLimit: limit))
        part.mediaType = nil
        let spooled = part
        let body = try await onThread { try OnePart.body(spooled) }
        let framed = OnePart.framed(try GzipSamples.member(ScriptedSource(Self.content)))
        #expect(body.replay == .seekable && !body.mayBlock && body.contentLength == Int64(framed.count))
        for _ in 0..<2 { #expect(try difference(body.bytes(), framed) == nil) }
    }

    @Test func `What can be read once cannot be measured`() throws {
        let error = try #require(failure { try OnePart.body(part(ScriptedSource([], replay: .once), .measured)) })
        #expect(error.code == .notReplayable && error.reason.contains(".spooled") && error.part?.index == 0)
    }

    @Test(arguments: lengths)
    func `A source that fails fails the body`(length: Gzip.Length) throws {
        let source = ScriptedSource(Self.content, failsAfter: 200_000)
        let error = try #require(failure { try OnePart.body(part(source, length)) })
        #expect(error.code == .readFailed && error.part?.index == 0)
    }

    @Test(arguments: lengths)
    func `A task that is cancelled makes no body`(length: Gzip.Length) async {
        let endless = GeneratorSource.restartable { { buffer in while buffer.freeCapacity > 0 { buffer.append(7) } } }
        let part = part(endless, length)
        let task = Task { try OnePart.body(part) }
        task.cancel()
        #expect(await failure { try await task.value }?.code == .cancelled)
    }

    // MARK: Changes

    /// Gives one content the first time, and another one from then on.
    private func changing(_ second: [UInt8]) -> GeneratorSource {
        let isFirst = Atomic(true)
        return GeneratorSource.restartable {
            generator(of: isFirst.exchange(false, ordering: .relaxed) ? Self.content : second)
        }
    }

    static let changes: [(name: String, content: [UInt8])] = [
        ("one byte", content.dropLast(1000) + [0] + content.suffix(999)),
        ("the first byte", [0] + content.dropFirst()),
        ("shorter", Array(content.dropLast())),
        ("much shorter", Array(content.prefix(10))),
        ("longer", content + [0]),
        ("much longer", content + content),
        ("nothing", []),
        ("incompressible", GzipSamples.random(content.count)),
    ]

    @Test(arguments: changes.indices, [1, 2])
    func `A second pass that gives other bytes is an error, and never a whole body`(change: Int, workers: Int) throws {
        let body = try OnePart.body(part(changing(Self.changes[change].content), .measured, workers: .init(workers)))
        for bufferSize in [100, 100_000, 1 << 20] {
            let reader = try body.makeReader()
            var bytes: [UInt8] = []
            let error = try #require(
                failure { while try reader.read(appendingTo: &bytes, upTo: bufferSize) > 0 {} }
            )
            #expect(error.code == .contentChanged, "\(Self.changes[change].name)")
            #expect(try Int64(bytes.count) < #require(body.contentLength) - Int64(OnePart.tail.count))
        }
    }

    @Test func `A file that is overwritten in place is noticed`() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.file("file", Self.content)
        var part = Part(disposition: nil, mediaType: nil, file: FileSource(path: path)).gzip(length: .measured)
        part.mediaType = nil
        let body = try OnePart.body(part)
        try Files.overwrite(path, at: 400_000, [0])
        #expect(throwing(.contentChanged) { try body.bytes() })
    }

    // MARK: The temporary file

    @Test func `The file has no name, and is closed with the last body and reader`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            unsafe setenv("TMPDIR", directory.path, 1)
            var bodies: [MultipartBody] = []
            for _ in 0..<3 {
                bodies.append(
                    try OnePart.body(GzipLengthTests().part(ScriptedSource(Self.content), .spooled(memoryLimit: 0)))
                )
            }
            #expect(Files.openPaths(under: directory.path).count == 3)
            for (descriptor, path) in ProcessState.openDescriptors() where path.hasPrefix(directory.path) {
                var status = stat()
                #expect(try unsafe fstat(#require(Int32(descriptor)), &status) == 0)
                #expect(status.st_mode & 0o7777 == 0o600 && status.st_nlink == 0)
            }
            #expect(try ChildProcess.firstLine(of: "ls", "-A", directory.path) == "")
            var reader: BodyReader? = try bodies[0].makeReader()
            bodies = []
            #expect(try reader?.rest(bufferSize: 1000).count ?? 0 > 1000)
            reader = nil
            #expect(await eventually { Files.openPaths(under: directory.path).isEmpty })
        }
    }

    @Test func `Without a directory for it there is an error that says what to do`() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("TMPDIR", "/nowhere/at/all", 1)
            let source = ScriptedSource(Self.content)
            let error = try #require(
                failure { try OnePart.body(GzipLengthTests().part(source, .spooled(memoryLimit: 0))) }
            )
            #expect(error.code == .writeFailed && error.path == "/nowhere/at/all" && error.errno == ENOENT)
            #expect(error.reason.contains("TMPDIR"))
            _ = try OnePart.body(GzipLengthTests().part(source, .spooled(memoryLimit: 10 << 20)))
        }
    }

    @Test func `A full disk is an error that says so`() async {
        await #expect(processExitsWith: .success) {
            let part = GzipLengthTests().part(ScriptedSource(GzipSamples.random(600_000)), .spooled(memoryLimit: 0))
            // The file is opened by the first call, and written by those behind it.
            for call in 2...3 {
                let before = ProcessState.openDescriptors().count
                SystemFaults.arm(.init(call: call, .failure(.noSpace)))
                let error = failure { try OnePart.body(part) }
                #expect(SystemFaults.disarm().hit == "write(_:_:)")
                #expect(error?.code == .writeFailed && error?.errno == ENOSPC)
                #expect(await eventually { ProcessState.openDescriptors().count <= before })
            }
        }
    }
}
