import Sluice
import SluiceTestSupport
import Testing

@testable import SluiceTool

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Every system call of a command's is made to fail: there are the right files, or there is an error and all is as it was.
@Suite(.timeLimit(.minutes(10))) struct CommandFaultTests {
    private static let errors = [EINTR, EIO, ENOSPC, EDQUOT, EMFILE, EACCES, EINVAL, EPIPE, EBADF, ENOMEM]

    @Test(arguments: CommandFaultBench.Use.local, errors)
    func `A failed call leaves all files or none`(use: CommandFaultBench.Use, number: Int32) async {
        await #expect(processExitsWith: .success) {
            [use = use as CommandFaultBench.Use, number = number as Int32] in
            // Else it would end as one whose output nobody reads.
            signal(SIGPIPE, SIG_IGN)
            try await CommandFaultBench(use).sweep(.failure(Errno(number)))
        }
    }

    @Test(arguments: CommandFaultBench.Use.local, [1, 1000])
    func `A call that does little loses nothing`(use: CommandFaultBench.Use, count: Int) async {
        await #expect(processExitsWith: .success) { [use = use as CommandFaultBench.Use, count = count as Int] in
            try await CommandFaultBench(use).sweep(.short(count))
        }
    }

    @Test(arguments: [EINTR, EAGAIN, EIO, ENOSPC, EMFILE, EPIPE, EBADF, ENOMEM])
    func `A transfer whose calls fail leaves the whole answer, or what was there`(number: Int32) async throws {
        let faults = try await FaultServer()
        let server = try await ServerProcess.started("session_server.py")
        let content = try TemporaryDirectory()
        let file = try content.file("file", faults.content)
        await #expect(processExitsWith: .success) {
            [
                number = number as Int32, file = file as String, download = faults.place().file as String,
                upload = server.url("/status/200?body=answer") as String,
            ] in
            let bytes = try TemporaryDirectory.contents(ofFile: file)
            try await CommandFaultBench(.download, url: download, answer: bytes).sweep(.failure(Errno(number)))
            try await CommandFaultBench(.upload, url: upload, answer: Array("answer".utf8))
                .sweep(.failure(Errno(number)))
        }
    }
}

/// Runs a command again and again, with another call failing each time.
struct CommandFaultBench {
    /// What is run, and what is there before.
    enum Use: String, CaseIterable, Codable, Sendable {
        case decodeToNew, decodeReplacing, encodeToNew, encodeReplacing, encodeThroughLink, download, upload

        static let local: [Use] = [.decodeToNew, .decodeReplacing, .encodeToNew, .encodeReplacing, .encodeThroughLink]
    }

    private let use: Use
    private let url: String
    private let directory: TemporaryDirectory
    /// The content of each file by its name.
    private var before: [String: [UInt8]] = [:]
    private let after: [String: [UInt8]]

    /// Makes what the command works on.
    ///
    /// - Parameters:
    ///   - use: What is run.
    ///   - url: Where a transfer goes.
    ///   - answer: What is answered there.
    /// - Throws: Where it cannot be made.
    init(_ use: Use, url: String = "", answer: [UInt8] = []) throws {
        self.use = use
        self.url = url
        directory = try TemporaryDirectory()
        let content = String((0..<300_000).map { Character(Unicode.Scalar(UInt8(33 + $0 * 31 % 89))) })
        let body = SampleBody.body(SampleBody.file("a", content), SampleBody.file("b", "small"))
        try directory.file("body", body)
        try directory.file("content", Array(content.utf8))
        switch use {
        case .decodeToNew, .decodeReplacing: after = ["a": Array(content.utf8), "b": Array("small".utf8)]
        case .encodeToNew, .encodeReplacing, .encodeThroughLink:
            let part = SampleBody.part(
                #"Content-Disposition: form-data; name="f"; filename="f""#,
                "Content-Type: application/octet-stream",
                content: content
            )
            after = ["a": SampleBody.body(part)]
        case .download, .upload: after = ["a": answer]
        }
        if ![.decodeToNew, .encodeToNew].contains(use) { before = after.mapValues { _ in Array("old".utf8) } }
    }

    /// Lets the first call fail, then the second, and so on until a run ends before the call that was to fail.
    func sweep(_ fault: SystemFaults.Fault) async throws {
        #expect(try await attempt(nil).calls.count > (use == .download ? 0 : 5))
        // What the first run set up for good is nothing left behind.
        let open = ProcessState.openDescriptors()
        for call in 1...5000 {
            // Interrupted for good, a call is never done, nor is one that waits for room.
            let isOnce = [.failure(.interrupted), .failure(.wouldBlock)].contains(fault)
            for staysBroken in isOnce ? [false] : [false, true] {
                let report = try await attempt(.init(call: call, fault, staysBroken: staysBroken))
                let isClosed = await ProcessState.settles { ProcessState.openDescriptors().count <= open.count }
                #expect(isClosed, "\(use), call \(call) left \(ProcessState.openDescriptors()), beside \(open)")
                if report.hit == nil { return }
            }
        }
        Issue.record("\(use) makes no end of calls")
    }

    private func attempt(_ plan: SystemFaults.Plan?) async throws -> SystemFaults.Report {
        let target = try prepare()
        SystemFaults.arm(plan)
        let error = await run(target)
        let report = SystemFaults.disarm()
        let comment: Comment = "\(use), \(String(describing: plan)), \(report.hit ?? "none"): \(error?.message ?? "")"
        if let error {
            guard case .failure(let number)? = plan?.fault else {
                Issue.record(comment)
                return report
            }
            #expect(number != .interrupted, comment)
            #expect(error.exitCode != .success && !error.message.isEmpty, comment)
            // How the transport puts it is a matter of its own tests.
            if use != .download { #expect(error.message.contains("\(number)"), comment) }
        }
        let place = "\(directory.path)/place"
        let isThere = try Files.names(in: directory.path).contains("place")
        #expect(isThere == (error == nil || use != .decodeToNew), comment)
        if isThere { try expect(error == nil ? after : before, in: place, comment) }
        #expect(await ProcessState.settles { Files.openPaths(under: directory.path).isEmpty }, comment)
        return report
    }

    /// Checks that these files are there, and nothing else.
    private func expect(_ files: [String: [UInt8]], in place: String, _ comment: Comment) throws {
        // What a download goes on with is meant to stay.
        let names = try Files.names(in: place).filter { use != .download || !$0.hasPrefix("a.sluice-part") }
        #expect(names == files.keys.sorted(), comment)
        for name in names {
            let content = try TemporaryDirectory.contents(ofFile: "\(place)/\(name)")
            #expect(difference(content, files[name] ?? []) == nil, comment)
        }
    }

    /// Puts what was there before in its place.
    ///
    /// - Returns: The path that the command is given.
    private func prepare() throws -> String {
        let place = "\(directory.path)/place"
        _ = try ChildProcess.firstLine(of: "sh", "-c", "rm -rf '\(place)' '\(directory.path)/link'; echo")
        if use != .decodeToNew { try Files.makeDirectory(place) }
        for (name, content) in before { try directory.file("place/\(name)", content) }
        switch use {
        case .decodeToNew, .decodeReplacing: return place
        case .encodeToNew, .encodeReplacing, .download, .upload: return "\(place)/a"
        case .encodeThroughLink:
            try Files.makeLink("\(directory.path)/link", to: "place/a")
            return "\(directory.path)/link"
        }
    }

    private func run(_ target: String) async -> ToolError? {
        let part = "f=@\(directory.path)/content;filename=f"
        do throws(ToolError) {
            switch use {
            case .decodeToNew, .decodeReplacing:
                let arguments = ["\(directory.path)/body", "--boundary", "B", "--force", "--into", target]
                try await DecodeCommand(OptionParser.parse(arguments, DecodeCommand.groups.flatMap(\.options))).run()
            case .encodeToNew, .encodeReplacing, .encodeThroughLink:
                let arguments = ["--boundary", "B", "-F", part, "-o", target]
                try await EncodeCommand(OptionParser.parse(arguments, EncodeCommand.groups.flatMap(\.options))).run()
            case .download:
                let arguments = [url, "-o", target, "--progress", "none"]
                let options = DownloadCommand.groups.flatMap(\.options)
                try await DownloadCommand(OptionParser.parseGroups(arguments, options)).run()
            case .upload:
                let arguments = [url, "-F", part, "-o", target, "--progress", "none"]
                let options = UploadCommand.groups.flatMap(\.options)
                try await UploadCommand(OptionParser.parseGroups(arguments, options)).run()
            }
            return nil
        } catch {
            return error
        }
    }
}
