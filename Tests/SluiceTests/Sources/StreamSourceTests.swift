import Glibc
import Sluice
import SluiceTestSupport
import Testing

/// Pipes, FIFOs, sockets, devices and made-up files: bytes of unknown number, read to their end.
@Suite(.timeLimit(.minutes(5))) struct StreamSourceTests {
    private let directory: TemporaryDirectory
    private let content = TemporaryDirectory.noise(300_000)

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func expectUnknownLength(_ body: MultipartBody, _ replay: Replay) {
        #expect(body.contentLength == nil && body.replay == replay && body.mayBlock)
        #expect(throwing(.unknownLength) { try body.slice(0..<1) })
    }

    @Test(arguments: [1, 1000, 100_000])
    func `A FIFO is not waited for when the body is made, and read to its end when it is read`(step: Int) async throws {
        let path = "\(directory.path)/fifo"
        try Files.makeFIFO(path)
        let body = try OnePart.body(FileSource(path: path))
        expectUnknownLength(body, .once)
        let content = Array(content.prefix(step * 100))
        async let received = onThread { try body.bytes(bufferSize: step) }
        // Opening for writing waits until the reader has opened its end.
        try await onThread {
            let descriptor = try Files.descriptor(of: path, O_WRONLY)
            defer { close(descriptor) }
            try writeAll(content, to: descriptor)
        }
        #expect(try await difference(received, OnePart.framed(content)) == nil)
        #expect(Files.openPaths(under: directory.path).isEmpty)
    }

    @Test func `A FIFO whose writer writes nothing is an empty part`() async throws {
        let path = "\(directory.path)/fifo"
        try Files.makeFIFO(path)
        let body = try OnePart.body(FileSource(path: path))
        async let received = onThread { try body.bytes() }
        try await onThread { _ = close(try Files.descriptor(of: path, O_WRONLY)) }
        #expect(try await difference(received, OnePart.framed([])) == nil)
    }

    @Test func `A FIFO's name and type go by its path`() throws {
        try Files.makeFIFO("\(directory.path)/fifo.txt")
        var form = MultipartForm()
        try form.addFile(name: "n", path: "\(directory.path)/fifo.txt")
        #expect(form.parts[0].disposition?.filename == "fifo.txt" && form.parts[0].mediaType == .plainText)
    }

    enum Kind: CaseIterable, Sendable { case pipe, socket, nonBlockingPipe }

    private func channel(_ kind: Kind) throws -> Channel {
        let channel = kind == .socket ? try Channel.socketPair() : try Channel.pipe()
        if kind == .nonBlockingPipe { _ = fcntl(channel.readEnd, F_SETFL, O_NONBLOCK) }
        return channel
    }

    @Test(arguments: Kind.allCases, [1000, 65_536])
    func `A descriptor of a pipe or socket is read to its end, once`(kind: Kind, bufferSize: Int) async throws {
        let channel = try channel(kind)
        let body = try OnePart.body(FileSource(descriptor: channel.readEnd, ownership: .owned))
        expectUnknownLength(body, .once)
        let content = content
        async let received = onThread { try body.bytes(bufferSize: bufferSize) }
        try await onThread {
            defer { close(channel.writeEnd) }
            for start in stride(from: 0, to: content.count, by: 70_000) {
                try writeAll(Array(content[start..<min(start + 70_000, content.count)]), to: channel.writeEnd)
                usleep(1000)
            }
        }
        #expect(try await difference(received, OnePart.framed(content)) == nil)
        let error = try #require(failure(of: { try body.bytes() }))
        #expect(error.code == .notReplayable && error.part?.index == 0)
    }

    @Test func `A borrowed pipe stays open, an owned one is closed with the last reader`() throws {
        for ownership in [FileSource.Ownership.borrowed, .owned] {
            let channel = try Channel.pipe()
            do {
                let body = try OnePart.body(FileSource(descriptor: channel.readEnd, ownership: ownership))
                close(channel.writeEnd)
                #expect(try body.bytes() == OnePart.framed([]))
                #expect(fcntl(channel.readEnd, F_GETFD) >= 0)
            }
            // Somebody else may have opened a descriptor of this number since: then it is not the pipe any more.
            let isOpen = ProcessState.openDescriptors()["\(channel.readEnd)"]?.hasPrefix("pipe:") == true
            if ownership == .borrowed {
                #expect(isOpen)
                close(channel.readEnd)
            }
        }
    }

    @Test func `What is there goes out before a wait for more`() async throws {
        let channel = try Channel.pipe()
        defer { close(channel.writeEnd) }
        let body = try OnePart.body(FileSource(descriptor: channel.readEnd, ownership: .owned))
        let sizes = try await onThread {
            let reader = try body.makeReader()
            var buffer = [UInt8](repeating: 0, count: 1000)
            var sizes: [Int] = []
            for piece in [0, 10, 200] {
                try writeAll([UInt8](repeating: 1, count: piece), to: channel.writeEnd)
                sizes.append(try unsafe buffer.withUnsafeMutableBytes { unsafe try reader.read(into: $0) })
            }
            return sizes
        }
        // Were the reader to fill its buffer, the first read would never return.
        #expect(sizes == [OnePart.head.count, 10, 200])
    }

    @Test(arguments: Kind.allCases)
    func `An interrupt ends a read that waits, and every later one`(kind: Kind) async throws {
        let channel = try channel(kind)
        defer { close(channel.writeEnd) }
        let body = try OnePart.body(FileSource(descriptor: channel.readEnd, ownership: .owned))
        let interrupt = ReadInterrupt()
        async let codes = onThread {
            let reader = try body.makeReader(interrupt: interrupt)
            return (0..<3).map { _ in failure(of: { try reader.rest(bufferSize: 100) })?.code }
        }
        try await Task.sleep(for: .milliseconds(20))
        interrupt.trigger()
        #expect(try await codes == [.cancelled, .cancelled, .cancelled])
    }

    @Test func `An interrupt ends a wait for a FIFO that nobody ever opens`() async throws {
        let path = "\(directory.path)/fifo"
        try Files.makeFIFO(path)
        let body = try OnePart.body(FileSource(path: path))
        let interrupt = ReadInterrupt()
        async let error = onThread { failure(of: { try body.bytes(interrupt: interrupt) }) }
        #expect(await eventually { Files.openPaths(under: directory.path) == [path] })
        interrupt.trigger()
        #expect(try await error?.code == .cancelled)
        #expect(Files.openPaths(under: directory.path).isEmpty)
    }

    @Test(arguments: ["/proc/version", "/proc/cpuinfo", "/proc/self/environ", "/sys/devices/system/cpu/possible"])
    func `A made-up file is read to its end whatever size it claims, any number of times`(path: String) async throws {
        let content = try TemporaryDirectory.contents(ofFile: path)
        let body = try OnePart.body(FileSource(path: path))
        expectUnknownLength(body, .restartable)
        let whole = OnePart.framed(content)
        for bufferSize in [7, 65_536] { #expect(try difference(body.bytes(bufferSize: bufferSize), whole) == nil) }
        for offset in [1, OnePart.head.count + 1, whole.count - 1, whole.count] {
            #expect(try body.bytes(from: Int64(offset)) == Array(whole[offset...]))
        }
        for way in ReadingWay.allCases { #expect(try await difference(way.read(body, in: directory), whole) == nil) }
    }

    @Test func `An endless device is not read by looking at it, and bounded by who reads it`() throws {
        let body = try OnePart.body(FileSource(path: "/dev/zero"))
        expectUnknownLength(body, .once)
        #expect(throwing(.limitExceeded) { try body.collect(upTo: 100_000) })
        let again = try OnePart.body(FileSource(path: "/dev/zero")).makeReader()
        var buffer = [UInt8](repeating: 1, count: 5000)
        _ = try unsafe buffer.withUnsafeMutableBytes { unsafe try again.read(into: $0) }
        #expect(try unsafe buffer.withUnsafeMutableBytes { unsafe try again.read(into: $0) } == 5000)
        #expect(buffer.allSatisfy { $0 == 0 })
    }

    @Test func `The null device is an empty part`() throws {
        let body = try OnePart.body(FileSource(path: "/dev/null"))
        expectUnknownLength(body, .once)
        #expect(try body.bytes() == OnePart.framed([]))
    }

    @Test(arguments: [true, false])
    func `The standard input is a file or a pipe, as it is redirected`(isFile: Bool) async throws {
        let path = try directory.file("input", Array("the input".utf8))
        await #expect(processExitsWith: .success) { [path = path as String, isFile = isFile as Bool] in
            if isFile {
                #expect(dup2(try Files.descriptor(of: path), 0) == 0)
                lseek(0, 4, SEEK_SET)
            } else {
                let pipe = try Channel.pipe()
                try writeAll(Array("input".utf8), to: pipe.writeEnd)
                close(pipe.writeEnd)
                #expect(dup2(pipe.readEnd, 0) == 0)
            }
            let body = try OnePart.body(.standardInput)
            let expected = OnePart.framed(Array("input".utf8))
            #expect(body.contentLength == (isFile ? Int64(expected.count) : nil))
            #expect(try difference(body.bytes(), expected) == nil)
            #expect(fcntl(0, F_GETFD) >= 0)
        }
    }
}
