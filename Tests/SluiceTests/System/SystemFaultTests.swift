import Glibc
import SluiceTestSupport
import Testing

@testable import Sluice

/// Every system call of every use is made to fail once, in every way: what comes of it is the right bytes or an
/// error that says what failed, and nothing stays behind.
@Suite struct SystemFaultTests {
    /// What the engine is used for.
    enum Use: String, CaseIterable, Codable, Sendable {
        case reader, chunks, file, pipe, socket, asyncSource
    }

    private static let errors: [Int32] = [EINTR, EAGAIN, EIO, ENOSPC, EPIPE, EBADF, ENOMEM, EMFILE]

    @Test(arguments: Use.allCases)
    func `One failed call is the right bytes or a clear error`(use: Use) async {
        await #expect(processExitsWith: .success) { [use = use as Use] in
            let bench = try FaultBench()
            for number in Self.errors { try await bench.sweep(use, .failure(Errno(number))) }
        }
    }

    @Test(arguments: Use.allCases)
    func `A call that does little loses nothing`(use: Use) async {
        await #expect(processExitsWith: .success) { [use = use as Use] in
            let bench = try FaultBench()
            for count in [1, 4096] { try await bench.sweep(use, .short(count)) }
        }
    }

    @Test(arguments: Use.allCases)
    func `A call that fails for good, or does little each time, is no different`(use: Use) async {
        await #expect(processExitsWith: .success) { [use = use as Use] in
            let bench = try FaultBench()
            for fault in [.short(500), .failure(.inputOutput)] as [SystemFaults.Fault] {
                try await bench.breakForGood(use, fault)
            }
        }
    }
}

/// Runs one use again and again, with another call failing each time.
private struct FaultBench {
    typealias Use = SystemFaultTests.Use

    private let directory: TemporaryDirectory
    private let file: [UInt8]
    private let expected: [UInt8]

    init() throws {
        directory = try TemporaryDirectory()
        file = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 4) }
        try directory.file("file", file)
        try directory.file("small", Array("small".utf8))
        let parts: [ReferencePart] = [
            .formData(name: "text", content: Array("a field".utf8)),
            .formData(name: "file", filename: "file", type: "application/octet-stream", content: file),
            .formData(name: "small", filename: "s.txt", type: "text/plain", content: Array("mall".utf8)),
            .formData(name: "stream", filename: "p", type: "application/octet-stream", content: Array("piped".utf8)),
            .formData(name: "last", filename: "l", type: "application/octet-stream", content: [1, 2, 3]),
        ]
        expected = ReferenceEncoder.encode(boundary: "b", parts)
    }

    /// Lets the first call fail, then the second, and so on until a run ends before the call that was to fail.
    func sweep(_ use: Use, _ fault: SystemFaults.Fault) async throws {
        // What the first run sets up for good (queues of the runtime's) is nothing left behind.
        let calls = try await run(use, nil).1.calls.count
        #expect(calls > 5, "\(use) makes more system calls than that")
        // A run that falls back to other calls makes more of them than one that need not.
        for call in 1...(calls * 10) {
            if try await attempt(use, .init(call: call, fault)).hit == nil { return }
        }
        Issue.record("\(use) makes no end of calls")
    }

    /// Lets calls of each kind fail from the first one on.
    func breakForGood(_ use: Use, _ fault: SystemFaults.Fault) async throws {
        let calls = try await run(use, nil).1.calls
        for (index, function) in calls.enumerated() where calls.firstIndex(of: function) == index {
            _ = try await attempt(use, .init(call: index + 1, fault, staysBroken: true))
        }
    }

    private func attempt(_ use: Use, _ plan: SystemFaults.Plan) async throws -> SystemFaults.Report {
        let before = openDescriptors()
        let (outcome, report) = try await run(use, plan)
        let comment: Comment = "\(use), \(plan.fault), call \(plan.call) (\(report.hit ?? "none"))"
        check(outcome, plan.fault, comment)
        let isTidy = await ProcessState.settles {
            openDescriptors().count <= before.count
                && !ProcessState.threadNames().contains { $0.hasPrefix("sluice-") }
        }
        #expect(isTidy, "\(comment) left \(openDescriptors()), beside \(before), \(ProcessState.threadNames())")
        return report
    }

    /// What is open, but for the timers that the runtime makes and closes as it likes.
    private func openDescriptors() -> [String] {
        ProcessState.openDescriptors().values.filter { !$0.contains("timerfd") }.sorted()
    }

    private func check(_ outcome: Result<[UInt8], any Error>, _ fault: SystemFaults.Fault, _ comment: Comment) {
        switch outcome {
        case .success(let bytes):
            #expect(difference(bytes, expected) == nil, comment)
        case .failure(let error):
            guard let error = error as? MultipartError, case .failure(let number) = fault else {
                Issue.record("\(comment): \(error)")
                return
            }
            // A signal is never the caller's business.
            #expect(number != .interrupted, comment)
            #expect(error.errno == number.rawValue, "\(comment): \(error)")
            #expect(!error.reason.isEmpty, comment)
        }
    }

    private func run(
        _ use: Use,
        _ plan: SystemFaults.Plan?
    ) async throws -> (Result<[UInt8], any Error>, SystemFaults.Report) {
        let stream = try Channel.pipe()
        try writeAll(Array("piped".utf8), to: stream.writeEnd)
        close(stream.writeEnd)
        let outcome: Result<[UInt8], any Error>
        let report: SystemFaults.Report
        switch use {
        case .reader:
            (outcome, report) = await armed(plan) { try body(stream).makeReader().rest(bufferSize: 10_000) }
        case .chunks, .asyncSource:
            (outcome, report) = await armed(plan) {
                var bytes: [UInt8] = []
                for try await chunk in try body(stream, isAsync: use == .asyncSource).chunks(ofSize: 10_000) {
                    bytes += chunk
                }
                return bytes
            }
        case .file:
            let target = try Files.descriptor(of: "\(directory.path)/target", O_RDWR | O_CREAT | O_TRUNC)
            defer { close(target) }
            (outcome, report) = await armed(plan) {
                _ = try body(stream).write(to: target)
                return try TemporaryDirectory.contents(ofFile: "\(directory.path)/target")
            }
        case .pipe, .socket:
            let channel = use == .pipe ? try Channel.pipe() : try Channel.socketPair()
            async let received = onThread {
                defer { close(channel.readEnd) }
                return try readAll(channel.readEnd)
            }
            // The thread above must be there before calls begin to fail.
            _ = await ProcessState.settles { ProcessState.threadNames().contains("sluice-test") }
            let (sent, sending) = await armed(plan) {
                defer { close(channel.writeEnd) }
                _ = try body(stream).write(to: channel.writeEnd)
                return []
            }
            let bytes = try await received
            #expect(expected.starts(with: bytes))
            (outcome, report) = (sent.map { _ in bytes }, sending)
        }
        return (outcome, report)
    }

    private func armed(
        _ plan: SystemFaults.Plan?,
        _ work: () async throws -> [UInt8]
    ) async -> (Result<[UInt8], any Error>, SystemFaults.Report) {
        SystemFaults.arm(plan)
        do {
            let bytes = try await work()
            return (.success(bytes), SystemFaults.disarm())
        } catch {
            return (.failure(error), SystemFaults.disarm())
        }
    }

    /// A part of every kind; the stream's descriptor is the body's to close.
    private func body(_ stream: Channel, isAsync: Bool = false) throws -> MultipartBody {
        let pipe = FileSource(descriptor: stream.readEnd, ownership: .owned)
        var form = MultipartForm(boundary: try Boundary("b"))
        try form.addField(name: "text", value: "a field")
        try form.addFile(name: "file", path: "\(directory.path)/file")
        let small = FileSource(path: "\(directory.path)/small", range: 1..<5)
        try form.append(.file("small", small, filename: "s.txt"))
        try form.append(.file("stream", pipe, filename: "p"))
        if isAsync {
            let source = AsyncSource(Upstream().chunks([[1], [2, 3]]))
            try form.append(.file("last", source, filename: "l"))
        } else {
            try form.append(.file("last", bytes: [1, 2, 3], filename: "l"))
        }
        return try form.body()
    }
}
