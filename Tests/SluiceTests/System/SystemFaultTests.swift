import Foundation
import SluiceTestSupport
import Synchronization
import Testing

@testable import Sluice

/// Every system call of every use is made to fail once, in every way: what comes of it is the right bytes or an
/// error that says what failed, and nothing stays behind.
@Suite struct SystemFaultTests {
    /// What the engine is used for.
    enum Use: String, CaseIterable, Codable, Sendable {
        case reader, chunks, file, pipe, socket, asyncSource
        case gzip, gzipWorkers, gzipChunks, gzipMeasured, gzipMeasuredWorkers, gzipSpooled, gzipSpooledWorkers
        case parse
    }

    private static let errors: [Int32] = [EINTR, EAGAIN, EIO, ENOSPC, EPIPE, EBADF, ENOMEM, EMFILE]

    @Test(arguments: Use.allCases)
    func `One failed call is the right bytes or a clear error`(use: Use) async throws {
        let directory = try TemporaryDirectory()
        let result = try directory.file("faults", [])
        await #expect(processExitsWith: .success) { [use = use as Use, result = result as String] in
            let bench = try await FaultBench()
            for number in Self.errors { try await bench.sweep(use, .failure(Errno(number))) }
            try bench.report(to: result)
        }
        try Self.printFaults(use, result)
    }

    @Test(arguments: Use.allCases)
    func `A call that does little loses nothing`(use: Use) async throws {
        let directory = try TemporaryDirectory()
        let result = try directory.file("faults", [])
        await #expect(processExitsWith: .success) { [use = use as Use, result = result as String] in
            let bench = try await FaultBench()
            for count in [1, 4096] { try await bench.sweep(use, .short(count)) }
            try bench.report(to: result)
        }
        try Self.printFaults(use, result)
    }

    @Test(arguments: Use.allCases)
    func `A call that fails for good, or does little each time, is no different`(use: Use) async throws {
        let directory = try TemporaryDirectory()
        let result = try directory.file("faults", [])
        await #expect(processExitsWith: .success) { [use = use as Use, result = result as String] in
            let bench = try await FaultBench()
            for fault in [.short(500), .failure(.inputOutput)] as [SystemFaults.Fault] {
                try await bench.breakForGood(use, fault)
            }
            try bench.report(to: result)
        }
        try Self.printFaults(use, result)
    }

    private static func printFaults(_ use: Use, _ path: String) throws {
        print("\(use): \(String(decoding: try TemporaryDirectory.contents(ofFile: path), as: UTF8.self)) faults")
    }
}

/// Runs one use again and again, with another call failing each time.
private final class FaultBench: Sendable {
    typealias Use = SystemFaultTests.Use

    private let directory: TemporaryDirectory
    private let file: [UInt8]
    /// The body of all kinds of parts.
    private let plain: [UInt8]
    /// The body of one compressed part, of which gzip(1) says that it is the file.
    private let compressed: [UInt8]
    /// The content of the parts, in their order.
    private let contents: [[UInt8]]
    /// Where parts are saved, and where temporary files are made.
    private let saved: TemporaryDirectory
    /// How many runs had a call that failed.
    private let faults = Atomic(0)

    init() async throws {
        directory = try TemporaryDirectory()
        saved = try TemporaryDirectory()
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
        plain = ReferenceEncoder.encode(boundary: "b", parts)
        contents = [Array("a field".utf8), file, Array("mall".utf8), Array("piped".utf8), [1, 2, 3]]
        let source = FileSource(path: "\(directory.path)/file")
        let part = Part(disposition: nil, mediaType: nil, file: source).gzip(level: 1, workers: 1, blockSize: 32 << 10)
        compressed = try OnePart.body(part).bytes()
        let head = try #require(compressed.firstRange(of: Array("\r\n\r\n".utf8))).upperBound
        let member = Array(compressed[head...].dropLast(OnePart.tail.count))
        #expect(try await difference(#require(Gunzip.decompress([member]).first ?? nil), file) == nil)
        // Only behind the other directories, which are made in the one that was there before.
        unsafe setenv("TMPDIR", saved.path, 1)
    }

    /// Writes down how many faults there were, for the process that prints it.
    func report(to path: String) throws {
        try Files.append(Array("\(faults.load(ordering: .relaxed))".utf8), to: path)
    }

    private func expected(_ use: Use) -> [UInt8] {
        switch use {
        case .reader, .chunks, .file, .pipe, .socket, .asyncSource: plain
        case .parse: Array(contents.joined())
        default: compressed
        }
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
        let before = ProcessState.openDescriptors().values.sorted()
        let (outcome, report) = try await run(use, plan)
        let comment: Comment = "\(use), \(plan.fault), call \(plan.call) (\(report.hit ?? "none"))"
        check(outcome, expected(use), plan.fault, comment)
        if report.hit != nil { faults.add(1, ordering: .relaxed) }
        let isTidy = await ProcessState.settles {
            ProcessState.openDescriptors().count <= before.count
                && !ProcessState.threadNames().contains { $0.hasPrefix("sluice-") }
        }
        for (name, content) in try takeSaved() { #expect(contents.contains(content), "\(comment) left \(name)") }
        let after = ProcessState.openDescriptors().values.sorted()
        #expect(isTidy, "\(comment) left \(after), beside \(before), \(ProcessState.threadNames())")
        return report
    }

    /// What lies where parts are saved, which is empty then.
    private func takeSaved() throws -> [(name: String, content: [UInt8])] {
        try FileManager.default.contentsOfDirectory(atPath: saved.path).map { name in
            let content = try TemporaryDirectory.contents(ofFile: "\(saved.path)/\(name)")
            try Files.remove("\(saved.path)/\(name)")
            return (name, content)
        }
    }

    private func check(
        _ outcome: Result<[UInt8], any Error>,
        _ expected: [UInt8],
        _ fault: SystemFaults.Fault,
        _ comment: Comment
    ) {
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
        case .gzip, .gzipWorkers, .gzipMeasured, .gzipMeasuredWorkers, .gzipSpooled, .gzipSpooledWorkers:
            close(stream.readEnd)
            (outcome, report) = await armed(plan) { try gzipBody(use).bytes(bufferSize: 10_000) }
        case .gzipChunks:
            close(stream.readEnd)
            (outcome, report) = await armed(plan) {
                var bytes: [UInt8] = []
                for try await chunk in try gzipBody(use).chunks(ofSize: 10_000) { bytes += chunk }
                return bytes
            }
        case .parse:
            _ = try takeSaved()
            (outcome, report) = await armed(plan) { try await parse(try body(stream)) }
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
            #expect(plain.starts(with: bytes))
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

    /// The file, compressed.
    private func gzipBody(_ use: Use) throws -> MultipartBody {
        let length: Gzip.Length =
            switch use {
            case .gzipMeasured, .gzipMeasuredWorkers: .measured
            case .gzipSpooled, .gzipSpooledWorkers: .spooled(memoryLimit: 1000)
            default: .unknown
            }
        let workers: Gzip.Workers =
            switch use {
            case .gzipWorkers, .gzipChunks, .gzipMeasuredWorkers, .gzipSpooledWorkers: 3
            default: 1
            }
        let source = FileSource(path: "\(directory.path)/file")
        let part = Part(disposition: nil, mediaType: nil, file: source)
        return try OnePart.body(part.gzip(level: 1, workers: workers, length: length, blockSize: 32 << 10))
    }

    /// Saves the parts, and gives what their files hold.
    private func parse(_ body: MultipartBody) async throws -> [UInt8] {
        let reader = try MultipartReader(
            body.chunks(ofSize: 10_000),
            contentType: body.contentType,
            limits: ParserLimits(fileBytes: 1 << 20, totalBytes: 1 << 20)
        )
        var bytes: [UInt8] = []
        for try await part in reader {
            let path = "\(saved.path)/\(part.headers.index)"
            let count = try await part.save(to: path)
            let content = try TemporaryDirectory.contents(ofFile: path)
            #expect(count == content.count)
            bytes += content
        }
        return bytes
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
