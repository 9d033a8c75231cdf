import Glibc
import Sluice
import SluiceTestSupport
import Synchronization
import Testing

/// A process that may open no more: an error that says so and names the part, and no harm to later readings.
@Suite(.timeLimit(.minutes(5))) struct DescriptorLimitTests {
    /// Runs `body` while the process can open as many descriptors more.
    ///
    /// Without an `await`, because the runtime ends the process where it cannot open a timer.
    private static func withRoom<Result>(for spare: Int, _ body: () throws -> Result) throws -> Result {
        var before = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &before)
        var limit = before
        limit.rlim_cur = rlim_t(dup(0) + 10)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        defer { unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &before) }
        var filling: [Int32] = []
        // More than once, for files that the runtime has open for a moment.
        for _ in 0..<5 {
            while case let descriptor = dup(0), descriptor >= 0 { filling.append(descriptor) }
            usleep(5000)
        }
        for _ in 0..<spare { close(filling.removeLast()) }
        defer { for descriptor in filling { close(descriptor) } }
        return try body()
    }

    @Test func `A file that cannot be opened for want of descriptors is an error, and can be read later`() async throws
    {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let body = try OnePart.body(FileSource(path: directory.file("f", [1, 2, 3])))
            try Self.withRoom(for: 0) {
                let error = try #require(failure(of: { try body.bytes() }))
                #expect(error.code == .openFailed && error.errno == EMFILE && error.part?.index == 0, "\(error)")
            }
            #expect(try body.bytes() == OnePart.framed([1, 2, 3]))
        }
    }

    @Test func `A wait that cannot be made interruptible is an error`() async throws {
        await #expect(processExitsWith: .success) {
            let pipe = try Channel.pipe()
            let body = try OnePart.body(FileSource(descriptor: pipe.readEnd, ownership: .borrowed))
            try Self.withRoom(for: 0) {
                let error = try #require(failure(of: { try body.bytes(interrupt: ReadInterrupt()) }))
                #expect(error.code == .resourcesExhausted && error.errno == EMFILE && error.part?.index == 0)
            }
        }
    }

    @Test func `Where there is no room for a pipe, a file goes to a socket without one`() async throws {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let content = TemporaryDirectory.noise(2 << 20)
            let body = try OnePart.body(FileSource(path: directory.file("f", content)))
            let channel = try Channel.socketPair()
            let received = Box<[UInt8]>()
            try WorkerThread.start("sluice-test") { received.value = (try? readAll(channel.readEnd)) ?? [] }
            let report = try Self.withRoom(for: 1) {
                defer { close(channel.writeEnd) }
                return try body.write(to: channel.writeEnd)
            }
            #expect(await eventually { received.value != nil })
            #expect(difference(received.value ?? [], OnePart.framed(content)) == nil)
            #expect(report.bytesByMethod[.sendFile] == 2 << 20)
        }
    }

    @Test func `Ten thousand files are written with one descriptor at a time`() async throws {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            for number in 0..<100 { try directory.file("f\(number)", [UInt8(number)]) }
            var form = MultipartForm(subtype: .mixed, boundary: try Boundary("b"))
            for number in 0..<10_000 {
                let file = FileSource(path: "\(directory.path)/f\(number % 100)")
                try form.append(Part(disposition: nil, mediaType: nil, file: file))
            }
            let parts = (0..<10_000).map { ReferencePart(headers: [], content: .bytes([UInt8($0 % 100)])) }
            let path = try directory.file("target", [])
            let target = try Files.descriptor(of: path, O_WRONLY)
            // Looked at now and then; a limit of one would end the runtime, which opens descriptors of its own.
            let most = Mutex(0)
            try form.body().write(to: target) { _ in
                let open = Files.openPaths(under: directory.path).filter { $0 != path }
                most.withLock { $0 = max($0, open.count) }
            }
            #expect(most.withLock { $0 } <= 1)
            let written = try TemporaryDirectory.contents(ofFile: path)
            #expect(difference(written, ReferenceEncoder.encode(boundary: "b", parts)) == nil)
        }
    }
}
