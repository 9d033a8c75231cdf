import Glibc
import SluiceTestSupport
import Synchronization
import Testing

@testable import Sluice

/// Signals: those that interrupt system calls, those that threads must not take, and the one of broken pipes.
@Suite(.timeLimit(.minutes(5))) struct SignalTests {
    enum Target: String, CaseIterable, Sendable, Codable { case file, pipe, nonBlockingPipe, socket, reader }

    /// Runs `work` on a thread that is sent a signal as fast as another one can send it.
    private static func underSignals<Result: Sendable>(
        _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        let victim = Box<UInt>()
        let isDone = Mutex(false)
        async let result = onThread {
            var only = sigset_t()
            unsafe sigemptyset(&only)
            unsafe sigaddset(&only, SIGUSR1)
            unsafe pthread_sigmask(SIG_UNBLOCK, &only, nil)
            victim.value = UInt(pthread_self())
            defer {
                // The thread must not end while it is still sent signals.
                isDone.withLock { $0 = true }
                unsafe pthread_sigmask(SIG_BLOCK, &only, nil)
            }
            return try work()
        }
        try await onThread {
            while true {
                if isDone.withLock({ isDone in
                    if !isDone, let thread = victim.value { pthread_kill(pthread_t(thread), SIGUSR1) }
                    return isDone
                }) {
                    return
                }
                usleep(20)
            }
        }
        return try await result
    }

    @Test(arguments: Target.allCases)
    func `A storm of signals that interrupt system calls changes no byte`(target: Target) async {
        await #expect(processExitsWith: .success) { [target = target as Target] in
            var action = sigaction()
            // Without SA_RESTART, so that every call that waits comes back with EINTR.
            unsafe action.__sigaction_handler.sa_handler = { _ in }
            unsafe sigaction(SIGUSR1, &action, nil)

            let directory = try TemporaryDirectory()
            let content = TemporaryDirectory.noise((1 << 20) + 77)
            let path = try directory.file("f", content)
            let source = try Channel.pipe()
            let body = try MultipartForm(subtype: .mixed, boundary: Boundary("b")) {
                Part(disposition: nil, mediaType: nil, file: FileSource(path: path))
                Part(disposition: nil, mediaType: nil, bytes: content)
                Part(disposition: nil, mediaType: nil, source: .once(generator(of: content)) as GeneratorSource)
                Part(disposition: nil, mediaType: nil, file: FileSource(descriptor: source.readEnd, ownership: .owned))
            }.body()
            async let fed: Void = onThread {
                defer { close(source.writeEnd) }
                for start in stride(from: 0, to: content.count, by: 50_000) {
                    try writeAll(Array(content[start..<min(start + 50_000, content.count)]), to: source.writeEnd)
                    usleep(500)
                }
            }
            let bytes: [UInt8]
            switch target {
            case .reader:
                bytes = try await Self.underSignals { try body.bytes(bufferSize: 10_000, interrupt: ReadInterrupt()) }
            case .file:
                let file = try directory.file("target", [])
                let descriptor = try Files.descriptor(of: file, O_WRONLY)
                _ = try await Self.underSignals { try body.write(to: descriptor) }
                bytes = try TemporaryDirectory.contents(ofFile: file)
            case .pipe, .nonBlockingPipe, .socket:
                let channel = target == .socket ? try Channel.socketPair() : try Channel.pipe()
                if target == .nonBlockingPipe { _ = fcntl(channel.writeEnd, F_SETFL, O_NONBLOCK) }
                async let received = onThread { try readAll(channel.readEnd, step: 5000) }
                _ = try await Self.underSignals {
                    defer { close(channel.writeEnd) }
                    return try body.write(to: channel.writeEnd)
                }
                bytes = try await received
            }
            try await fed
            let parts = (0..<4).map { _ in ReferencePart(headers: [], content: .bytes(content)) }
            #expect(difference(bytes, ReferenceEncoder.encode(boundary: "b", parts)) == nil)
        }
    }

    @Test func `The engine's threads take no signals`() async throws {
        let blocked = Box<[Bool]>()
        try WorkerThread.start("a name that is much too long for a thread") {
            var mask = sigset_t()
            unsafe pthread_sigmask(SIG_SETMASK, nil, &mask)
            blocked.value = [SIGTERM, SIGINT, SIGPIPE, SIGUSR1, SIGCHLD].map { unsafe sigismember(&mask, $0) == 1 }
        }
        #expect(await eventually { blocked.value != nil })
        #expect(blocked.value == [true, true, true, true, true])
        // The starting thread's own mask is as it was.
        var mask = sigset_t()
        unsafe pthread_sigmask(SIG_SETMASK, nil, &mask)
        try WorkerThread.start("x") {}
        var after = sigset_t()
        unsafe pthread_sigmask(SIG_SETMASK, nil, &after)
        #expect(unsafe sigismember(&mask, SIGUSR2) == sigismember(&after, SIGUSR2))
    }

    @Test func `A thread's name is cut to what the system shows`() async throws {
        let name = Box<String>()
        try WorkerThread.start("sluice-0123456789") {
            let bytes = try? TemporaryDirectory.contents(ofFile: "/proc/thread-self/comm")
            name.value = bytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
        }
        #expect(await eventually { name.value != nil })
        #expect(name.value == "sluice-01234567\n")
    }
}
