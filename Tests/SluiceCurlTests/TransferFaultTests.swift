import Sluice
import SluiceCurl
import SluiceTestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

#if os(Linux)
/// Every system call of a download to a file, and of an upload from one, is made to fail in every way: what comes of it
/// is the right bytes or an error that says what failed, and nothing stays behind that should not.
@Suite(.serialized) struct TransferFaultTests {
    /// What a client is used for.
    enum Use: String, CaseIterable, Codable, Sendable {
        case new, replacing, goingOn, synchronized, unresumable, upload, uploadReadAhead
    }

    private static let errors: [Int32] = [
        EINTR, EAGAIN, EIO, ENOSPC, EACCES, EMFILE, EPIPE, EBADF, ENOMEM,
    ]

    @Test(arguments: Use.allCases)
    func `One failed call is the right bytes or a clear error`(use: Use) async throws {
        let setting = try await Setting(use)
        await #expect(processExitsWith: .success) { [setting = setting as Setting] in
            let bench = try TransferFaultBench(setting)
            for number in Self.errors { try await bench.sweep(.failure(Errno(number))) }
        }
    }

    @Test(arguments: Use.allCases)
    func `A call that does little loses nothing`(use: Use) async throws {
        let setting = try await Setting(use)
        await #expect(processExitsWith: .success) { [setting = setting as Setting] in
            let bench = try TransferFaultBench(setting)
            for count in [1, 4096] { try await bench.sweep(.short(count)) }
        }
    }

    @Test(arguments: Use.allCases)
    func `A call that fails for good, or does little each time, is no different`(use: Use) async throws {
        let setting = try await Setting(use)
        await #expect(processExitsWith: .success) { [setting = setting as Setting] in
            let bench = try TransferFaultBench(setting)
            for fault in [.short(3000), .failure(.inputOutput), .failure(.noSpace)] as [SystemFaults.Fault] {
                try await bench.breakForGood(fault)
            }
        }
    }

    /// What the process with the faults is told by the one that has the server.
    struct Setting: Codable, Sendable {
        let use: Use
        let server: String
        /// By `sha256sum`: of what is downloaded or uploaded.
        let digest: String

        fileprivate init(_ use: Use) async throws {
            self.use = use
            server = try await Fixtures.faults.base
            let directory = try TemporaryDirectory()
            let isUpload = use == .upload || use == .uploadReadAhead
            let bytes = try await isUpload ? ReferenceEncoder.encode(boundary: "b", Self.parts) : Fixtures.faults.medium
            digest = try ChildProcess.sha256(ofFile: directory.file("bytes", bytes))
        }

        fileprivate static let noise = TemporaryDirectory.noise(300_000)

        private static var parts: [ReferencePart] {
            [
                .formData(name: "text", content: Array("a field".utf8)),
                .formData(name: "file", filename: "file", type: "application/octet-stream", content: noise),
                .formData(
                    name: "last",
                    filename: "l",
                    type: "application/octet-stream",
                    content: Array(noise[..<70_000])
                ),
            ]
        }
    }
}

/// Runs one use again and again, with another call failing each time.
private final class TransferFaultBench {
    private let setting: TransferFaultTests.Setting
    private let content = TemporaryDirectory.noise(300_007, seed: 7)
    private let old: [UInt8] = [1, 2, 3]
    private var lastKey = 0
    /// What is open when nothing is under way, once there was a first run.
    private var openForGood: [String: String]?

    init(_ setting: TransferFaultTests.Setting) throws {
        self.setting = setting
    }

    private var isUpload: Bool { setting.use == .upload || setting.use == .uploadReadAhead }

    /// Lets the first call fail, then the second, and so on until a run ends before the call that was to fail.
    func sweep(_ fault: SystemFaults.Fault) async throws {
        // What the first run sets up for good is nothing left behind.
        let calls = try await attempt(nil).calls.count
        #expect(calls > 3, "\(setting.use) makes more system calls than that")
        for call in 1...(calls * 10) {
            if try await attempt(.init(call: call, fault)).hit == nil { return }
        }
        Issue.record("\(setting.use) makes no end of calls")
    }

    /// Lets calls of each kind fail from the first one on.
    func breakForGood(_ fault: SystemFaults.Fault) async throws {
        let calls = try await attempt(nil).calls
        for (index, function) in calls.enumerated() where calls.firstIndex(of: function) == index {
            _ = try await attempt(.init(call: index + 1, fault, staysBroken: true))
        }
    }

    private func attempt(_ plan: SystemFaults.Plan?) async throws -> SystemFaults.Report {
        let directory = try TemporaryDirectory()
        let report =
            isUpload ? try await upload(in: directory, plan) : try await download(into: directory, plan)
        let comment = comment(plan, report)
        let isTidy = await ProcessState.settles {
            Files.openPaths(under: directory.path).isEmpty
                && !ProcessState.threadNames().contains { $0.hasPrefix("sluice-") }
        }
        #expect(isTidy, "\(comment) left \(Files.openPaths(under: directory.path)), \(ProcessState.threadNames())")
        if let openForGood {
            let isClosed = await ProcessState.settles { ProcessState.openDescriptors().count <= openForGood.count }
            #expect(isClosed, "\(comment) left \(ProcessState.openDescriptors()), beside \(openForGood)")
        } else {
            openForGood = ProcessState.openDescriptors()
        }
        return report
    }

    private func comment(_ plan: SystemFaults.Plan?, _ report: SystemFaults.Report) -> Comment {
        "\(setting.use), \(plan.map { "\($0)" } ?? "no fault") (\(report.hit ?? "none"))"
    }

    private func armed<Value>(
        _ plan: SystemFaults.Plan?,
        _ work: () async throws -> Value
    ) async -> (Result<Value, any Error>, SystemFaults.Report) {
        SystemFaults.arm(plan)
        do {
            let value = try await work()
            return (.success(value), SystemFaults.disarm())
        } catch {
            return (.failure(error), SystemFaults.disarm())
        }
    }

    // MARK: Downloads

    private func download(
        into directory: TemporaryDirectory,
        _ plan: SystemFaults.Plan?
    ) async throws -> SystemFaults.Report {
        let target = "\(directory.path)/target"
        lastKey += 1
        let fault = setting.use == .goingOn ? "close@200000" : "ok"
        // Other processes of this test ask the same server.
        let key = "\(setting.use)-\(getpid())-\(lastKey)"
        let request = CurlRequest(url: "\(setting.server)/files/medium?key=\(key)&faults=\(fault)")
        var options = FileDownloadOptions()
        options.resumes = setting.use != .unresumable
        options.synchronizes = setting.use == .synchronized
        let isNew = setting.use == .new
        if !isNew {
            try directory.file("target", old)
            try #require(unsafe chmod(target, 0o640) == 0)
            // Another one's, where that can be.
            if geteuid() == 0 { try #require(unsafe chown(target, 65534, 65534) == 0) }
        }
        let client = CurlClient()
        if setting.use == .goingOn {
            _ = try? await client.download(request, toFile: target)
            #expect(try directory.names().count == 3)
            options.sha256 = setting.digest
            await client.close()
        }
        let (outcome, report) = await armed(plan) { [options] in
            let client = CurlClient()
            do {
                let file = try await client.download(request, toFile: target, options: options)
                await client.close()
                return file
            } catch {
                await client.close()
                throw error
            }
        }
        await client.close()
        let comment = comment(plan, report)
        // Where it cannot be given to the old one's group, another group gets no rights of it.
        var old: mode_t = 0o640
        if let plan, plan.staysBroken, case .failure(let error) = plan.fault, error != .interrupted,
            report.hit == "setOwner(of:user:group:)"
        {
            old = 0o600
        }
        let permissions: mode_t = isNew ? try directory.mode(of: directory.file("plain", [])) : old
        try Files.removeIfThere("\(directory.path)/plain")
        switch outcome {
        case .success(let file):
            #expect(file.byteCount == Int64(content.count), comment)
            #expect(try difference(TemporaryDirectory.contents(ofFile: target), content) == nil, comment)
            // `file` asks for 0644 where any new file is made with 0666.
            #expect(try directory.mode(of: target) & (isNew ? 0o644 : 0o777) == permissions, comment)
            #expect(try directory.names() == ["target"], comment)
            if geteuid() == 0, !isNew, report.hit != "setOwner(of:user:group:)" {
                #expect(try directory.owner(of: target) == 65534, comment)
            }
        case .failure(let error):
            try check(error, plan, report, target)
            try checkWhatIsLeft(in: directory, report, isNew: isNew, comment)
        }
        try await checkNext(request, directory, comment)
        return report
    }

    private func check(
        _ error: any Error,
        _ plan: SystemFaults.Plan?,
        _ report: SystemFaults.Report,
        _ target: String
    ) throws {
        let comment: Comment = "\(comment(plan, report)): \(error)"
        let error = try #require(error as? TransferError, comment)
        guard case .failure(let number)? = plan?.fault else {
            Issue.record(comment)
            return
        }
        // A signal is never the caller's business.
        #expect(number != .interrupted, comment)
        #expect(!error.reason.isEmpty, comment)
        switch error.code {
        case .fileFailed:
            #expect(error.errno == number.rawValue, comment)
            #expect(error.path == target, comment)
        case .fileInUse: #expect(report.hit == "lock(_:)" && number == .wouldBlock, comment)
        case .resourcesExhausted: #expect(report.hit == "pthread_create", comment)
        default: Issue.record(comment)
        }
    }

    /// The old file, or the new one, whole; and of the parts only what another download can go on with.
    private func checkWhatIsLeft(
        in directory: TemporaryDirectory,
        _ report: SystemFaults.Report,
        isNew: Bool,
        _ comment: Comment
    ) throws {
        let names = try directory.names()
        let target = "\(directory.path)/target"
        if report.hit == "synchronize(_:)", try directory.size(of: target) == content.count {
            // It failed behind the renaming.
            #expect(try difference(TemporaryDirectory.contents(ofFile: target), content) == nil, comment)
            #expect(names == ["target"], comment)
            return
        }
        #expect(names.contains("target") == !isNew, comment)
        if !isNew {
            #expect(try TemporaryDirectory.contents(ofFile: target) == old, comment)
            #expect(try directory.mode(of: target) == 0o640, comment)
        }
        let parts = names.filter { $0 != "target" }
        if setting.use == .unresumable { #expect(parts == [], comment) }
        for name in parts {
            #expect(name.hasPrefix("target.sluice-part"), comment)
            #expect(try directory.mode(of: "\(directory.path)/\(name)") == 0o600, comment)
            #expect(try directory.owner(of: "\(directory.path)/\(name)") == geteuid(), comment)
        }
    }

    /// Whatever is left, the next download comes to the whole file.
    private func checkNext(_ request: CurlRequest, _ directory: TemporaryDirectory, _ comment: Comment) async throws {
        let client = CurlClient()
        let target = "\(directory.path)/target"
        _ = try await client.download(request, toFile: target)
        #expect(try difference(TemporaryDirectory.contents(ofFile: target), content) == nil, comment)
        #expect(try directory.names() == ["target"], comment)
        await client.close()
    }

    // MARK: Uploads

    private func upload(
        in directory: TemporaryDirectory,
        _ plan: SystemFaults.Plan?
    ) async throws -> SystemFaults.Report {
        let noise = TransferFaultTests.Setting.noise
        try directory.file("file", noise)
        let request = CurlRequest(url: "\(setting.server)/upload")
        let (outcome, report) = await armed(plan) {
            var form = MultipartForm(boundary: try Boundary("b"))
            try form.addField(name: "text", value: "a field")
            try form.addFile(name: "file", path: "\(directory.path)/file")
            if setting.use == .uploadReadAhead {
                try form.append(.file("last", Fixtures.generator(70_000, knownLength: true), filename: "l"))
            } else {
                try form.append(.file("last", bytes: Array(noise[..<70_000]), filename: "l"))
            }
            let body = try form.body()
            let client = CurlClient()
            do {
                let response = try await client.upload(body, request)
                await client.close()
                return response
            } catch {
                await client.close()
                throw error
            }
        }
        let comment = comment(plan, report)
        switch outcome {
        case .success(let response):
            #expect(response.status == 200, comment)
            #expect(try Received(response).sha256 == setting.digest, comment)
        case .failure(let error):
            guard case .failure(let number)? = plan?.fault else {
                Issue.record("\(comment): \(error)")
                return report
            }
            #expect(number != .interrupted, comment)
            let transferError = error as? TransferError
            if transferError?.code == .resourcesExhausted {
                #expect(report.hit == "pthread_create", comment)
            } else {
                // Files are looked at when the body is made, and read when it is sent.
                let bodyError = try #require(
                    transferError?.bodyError ?? error as? MultipartError,
                    "\(comment): \(error)"
                )
                #expect(transferError.map { $0.code == .bodyFailed } ?? true, comment)
                #expect(bodyError.errno == number.rawValue, "\(comment): \(error)")
                #expect(bodyError.path?.hasPrefix(directory.path) ?? (report.hit == "pthread_create"), comment)
            }
        }
        return report
    }
}
#endif
