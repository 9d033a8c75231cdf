import Glibc
import Sluice
import SluiceTestSupport
import Synchronization
import Testing

/// Readers that go away, disks that are full, files that change, and writes that somebody ends.
@Suite(.timeLimit(.minutes(10))) struct DescriptorWriterFailureTests {
    /// What is being written when the reader goes away: each goes by another system call.
    enum Source: String, CaseIterable, Sendable, Codable { case memory, file, generator, pipe }

    enum Target: String, CaseIterable, Sendable, Codable { case pipe, socket }

    /// A body that is larger than any pipe or socket holds.
    private static func body(_ source: Source, _ directory: TemporaryDirectory) throws -> MultipartBody {
        let content = [UInt8](repeating: 1, count: 4 << 20)
        switch source {
        case .memory: return try OnePart.body(Part(disposition: nil, mediaType: nil, bytes: content))
        case .file: return try OnePart.body(FileSource(path: directory.file("f", content)))
        case .generator: return try OnePart.body(GeneratorSource.once(endless))
        case .pipe: return try OnePart.body(FileSource(path: "/dev/zero"))
        }
    }

    private static let endless: @Sendable (inout OutputRawSpan) -> Void = { buffer in
        for _ in 0..<min(buffer.freeCapacity, 1000) { buffer.append(0 as UInt8) }
    }

    private static func channel(_ target: Target) throws -> Channel {
        target == .pipe ? try Channel.pipe() : try Channel.socketPair()
    }

    private static func isPending() -> Bool {
        var pending = sigset_t()
        unsafe sigpending(&pending)
        return unsafe sigismember(&pending, SIGPIPE) == 1
    }

    private static func isBlocked() -> Bool {
        var mask = sigset_t()
        unsafe pthread_sigmask(SIG_SETMASK, nil, &mask)
        return unsafe sigismember(&mask, SIGPIPE) == 1
    }

    @Test(arguments: Source.allCases, Target.allCases)
    func `A reader that is gone is an error and not the end of the process`(source: Source, target: Target) async {
        await #expect(processExitsWith: .success) { [source = source as Source, target = target as Target] in
            let directory = try TemporaryDirectory()
            let body = try Self.body(source, directory)
            let channel = try Self.channel(target)
            // Whoever embeds the engine may have any handler: here the default one, which ends the process.
            signal(SIGPIPE, SIG_DFL)
            var unblocked = sigset_t()
            unsafe sigemptyset(&unblocked)
            unsafe sigaddset(&unblocked, SIGPIPE)
            unsafe pthread_sigmask(SIG_UNBLOCK, &unblocked, nil)
            let reading = Task {
                try await onThread {
                    var buffer = [UInt8](repeating: 0, count: 100_000)
                    unsafe read(channel.readEnd, &buffer, buffer.count)
                    close(channel.readEnd)
                }
            }
            let error = try #require(failure(of: { try body.write(to: channel.writeEnd) }))
            #expect(error.code == .connectionClosed)
            #expect(error.errno == EPIPE || error.errno == ECONNRESET)
            #expect(!Self.isPending() && !Self.isBlocked())
            _ = try await reading.value
        }
    }

    @Test(arguments: Source.allCases)
    func `A broken pipe's signal that was pending before is pending afterwards`(source: Source) async {
        await #expect(processExitsWith: .success) { [source = source as Source] in
            let directory = try TemporaryDirectory()
            let body = try Self.body(source, directory)
            let states = try await onThread {
                // This thread has every signal blocked.
                let channel = try Channel.pipe()
                close(channel.readEnd)
                let before = (Self.isPending(), Self.isBlocked())
                let first =
                    failure(of: { try body.slice(0..<1).write(to: channel.writeEnd) })
                    ?? failure(of: { try body.write(to: channel.writeEnd) })
                let between = (Self.isPending(), Self.isBlocked())
                raise(SIGPIPE)
                let raised = Self.isPending()
                let second = failure(of: { try body.write(to: channel.writeEnd) })
                return [
                    !before.0, before.1, first != nil, !between.0, between.1, raised, second?.code == .connectionClosed,
                    Self.isPending(), Self.isBlocked(),
                ]
            }
            #expect(states == [Bool](repeating: true, count: states.count))
        }
    }

    @Test(arguments: Source.allCases.filter { $0 != .generator })
    func `A full disk is an error with the system's number`(source: Source) throws {
        let directory = try TemporaryDirectory()
        let full = try Files.descriptor(of: "/dev/full", O_WRONLY)
        defer { close(full) }
        let error = try #require(failure(of: { try Self.body(source, directory).write(to: full) }))
        #expect(error.code == .writeFailed && error.errno == ENOSPC && error.part?.index == 0)
        #expect(error.reason.contains("after 0 bytes"))
        #expect(error.description.contains("No space left on device"))
    }

    @Test func `A target that is closed or for reading only is an error`() throws {
        let directory = try TemporaryDirectory()
        let body = try Self.body(.file, directory)
        let readOnly = try Files.descriptor(of: directory.file("target", []))
        defer { close(readOnly) }
        for target in [-1, 1_000_000, readOnly] {
            let error = try #require(failure(of: { try body.write(to: target) }))
            #expect(error.code == .writeFailed && error.errno == EBADF)
        }
        // Where the first byte to write is a file's, the kernel's refusals are many, and none of them may hide it.
        let range = try #require(body.contentRanges[0])
        let error = try #require(failure(of: { try body.slice(range).write(to: readOnly) }))
        #expect(error.code == .writeFailed && error.errno == EBADF)
    }

    @Test(arguments: Target.allCases)
    func `A file that is cut while it is written is an error, behind bytes that were right`(target: Target) async throws
    {
        let directory = try TemporaryDirectory()
        let content = TemporaryDirectory.noise(3 << 20)
        let path = try directory.file("f", content)
        let body = try OnePart.body(FileSource(path: path))
        let channel = try Self.channel(target)
        let writing = Task {
            try await onThread {
                defer { close(channel.writeEnd) }
                try body.write(to: channel.writeEnd)
            }
        }
        let received = try await onThread {
            defer { close(channel.readEnd) }
            // Once there are bytes of the file, it is open.
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 100)
            while bytes.count <= OnePart.head.count {
                let count = unsafe read(channel.readEnd, &buffer, buffer.count)
                bytes += buffer[..<max(count, 0)]
            }
            // Behind what a pipe, or the engine's pipe before a socket, can hold already.
            try Files.cut(path, to: 5 << 19)
            return try bytes + readAll(channel.readEnd)
        }
        let error = await failure { try await writing.value }
        #expect(error?.code == .fileShrank && error?.part?.index == 0 && error?.path == path)
        #expect(difference(received, Array(OnePart.framed(content)[..<(OnePart.head.count + 5 << 19)])) == nil)
    }

    /// What happens to a file while it is written, and no byte of it is another one.
    enum Change: CaseIterable {
        case grown, replaced, deleted, unreadable
    }

    @Test(arguments: Target.allCases, Change.allCases)
    func `A file that is there as it was when it was opened arrives, whatever becomes of its name`(
        target: Target,
        change: Change
    ) async throws {
        let directory = try TemporaryDirectory()
        let content = TemporaryDirectory.noise(3 << 20)
        let path = try directory.file("f", content)
        let body = try OnePart.body(FileSource(path: path))
        let channel = try Self.channel(target)
        async let received = onThread {
            defer { close(channel.readEnd) }
            // Once there are bytes of the file, it is open.
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 100)
            while bytes.count <= OnePart.head.count {
                let count = unsafe read(channel.readEnd, &buffer, buffer.count)
                bytes += buffer[..<max(count, 0)]
            }
            switch change {
            case .grown: try Files.append([1, 2, 3], to: path)
            case .replaced: try Files.move(directory.file("other", [1, 2, 3]), to: path)
            case .deleted: try Files.remove(path)
            case .unreadable: #expect(unsafe chmod(path, 0) == 0)
            }
            return try bytes + readAll(channel.readEnd)
        }
        try await onThread {
            defer { close(channel.writeEnd) }
            try body.write(to: channel.writeEnd)
        }
        #expect(try await difference(received, OnePart.framed(content)) == nil)
    }

    @Test func `A file that is touched while it is written is an error under the strict policy`() async throws {
        let directory = try TemporaryDirectory()
        let content = TemporaryDirectory.noise(2 << 20)
        let path = try directory.file("f", content)
        let body = try OnePart.body(FileSource(path: path, changePolicy: .strict))
        let channel = try Channel.pipe()
        async let received = onThread {
            defer { close(channel.readEnd) }
            var byte: UInt8 = 0
            unsafe read(channel.readEnd, &byte, 1)
            try Files.touch(path)
            return try [byte] + readAll(channel.readEnd)
        }
        let error = await failure {
            try await onThread {
                defer { close(channel.writeEnd) }
                try body.write(to: channel.writeEnd)
            }
        }
        #expect(error?.code == .fileChanged && error?.part?.index == 0)
        #expect(try await OnePart.framed(content).starts(with: received))
    }

    @Test func `An interrupt ends a write that waits for a source`() async throws {
        for target in [Channel.pipe, Channel.socketPair] {
            let source = try Channel.pipe()
            let channel = try target()
            defer {
                source.closeBoth()
                channel.closeBoth()
            }
            let body = try OnePart.body(FileSource(descriptor: source.readEnd, ownership: .borrowed))
            let interrupt = ReadInterrupt()
            async let error = onThread {
                failure(of: { try body.write(to: channel.writeEnd, interrupt: interrupt) })
            }
            // The head arrives, and then nothing.
            try await onThread {
                var head = [UInt8](repeating: 0, count: OnePart.head.count)
                unsafe read(channel.readEnd, &head, head.count)
            }
            interrupt.trigger()
            #expect(try await error?.code == .cancelled)
        }
    }

    @Test(arguments: Source.allCases)
    func `An interrupt is noticed between two writes`(source: Source) async throws {
        let directory = try TemporaryDirectory()
        let one = try Self.body(source, directory)
        // Much more than one call writes, all of it the same few bytes of memory.
        let memory = [UInt8](repeating: 2, count: 1 << 20)
        let body =
            source == .memory
            ? try MultipartForm(subtype: .mixed) {
                for _ in 0..<1000 { Part(disposition: nil, mediaType: nil, bytes: memory) }
            }.body() : one
        let channel = try Channel.pipe()
        let interrupt = ReadInterrupt()
        async let received = onThread {
            defer { close(channel.readEnd) }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            var total = 0
            while true {
                let count = unsafe read(channel.readEnd, &buffer, buffer.count)
                if count <= 0 { return total }
                total += count
                interrupt.trigger()
            }
        }
        let error = await failure {
            try await onThread {
                defer { close(channel.writeEnd) }
                try body.write(to: channel.writeEnd, interrupt: interrupt)
            }
        }
        // All of a body as small as the file's may be in the pipe's hands when the interrupt comes.
        if source != .file { #expect(error?.code == .cancelled) }
        #expect(try await received < 500 << 20)
    }
}
