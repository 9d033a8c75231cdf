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
@Suite struct CommandFaultTests {
    private static let errors = [EINTR, EIO, ENOSPC, EDQUOT, EMFILE, EACCES, EINVAL]

    @Test(arguments: CommandFaultBench.Use.allCases, errors)
    func `A failed call leaves all files or none`(use: CommandFaultBench.Use, number: Int32) async {
        await #expect(processExitsWith: .success) {
            [use = use as CommandFaultBench.Use, number = number as Int32] in
            try await CommandFaultBench(use).sweep(.failure(Errno(number)))
        }
    }

    @Test(arguments: CommandFaultBench.Use.allCases, [1, 1000])
    func `A call that does little loses nothing`(use: CommandFaultBench.Use, count: Int) async {
        await #expect(processExitsWith: .success) { [use = use as CommandFaultBench.Use, count = count as Int] in
            try await CommandFaultBench(use).sweep(.short(count))
        }
    }
}

/// Runs a command again and again, with another call failing each time.
struct CommandFaultBench {
    /// What is run, and what is there before.
    enum Use: String, CaseIterable, Codable, Sendable {
        case decodeToNew, decodeReplacing, encodeToNew, encodeReplacing, encodeThroughLink
    }

    private let use: Use
    private let directory: TemporaryDirectory
    private let content: String
    /// The text of each file by its name.
    private var before: [String: String] = [:]
    private var after: [String: String] = [:]

    init(_ use: Use) throws {
        self.use = use
        directory = try TemporaryDirectory()
        content = String((0..<300_000).map { Character(Unicode.Scalar(UInt8(33 + $0 * 31 % 89))) })
        let body = SampleBody.body(SampleBody.file("a", content), SampleBody.file("b", "small"))
        _ = try directory.file("body", body)
        _ = try directory.file("content", Array(content.utf8))
        switch use {
        case .decodeToNew, .decodeReplacing: after = ["a": content, "b": "small"]
        case .encodeToNew, .encodeReplacing, .encodeThroughLink:
            let part = SampleBody.part(
                #"Content-Disposition: form-data; name="f"; filename="f""#,
                "Content-Type: application/octet-stream",
                content: content
            )
            after = ["a": String(decoding: SampleBody.body(part), as: UTF8.self)]
        }
        if [.decodeReplacing, .encodeReplacing, .encodeThroughLink].contains(use) {
            before = after.mapValues { _ in "old" }
        }
    }

    /// Lets the first call fail, then the second, and so on until a run ends before the call that was to fail.
    func sweep(_ fault: SystemFaults.Fault) async throws {
        _ = try await attempt(nil)
        for call in 1...5000 {
            // Interrupted for good, a call is never done.
            for staysBroken in fault == .failure(.interrupted) ? [false] : [false, true] {
                let report = try await attempt(.init(call: call, fault, staysBroken: staysBroken))
                guard report.hit == nil else { continue }
                #expect(call > 5, "\(use) makes more system calls than that")
                return
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
            #expect(error.message.contains("\(number)") && error.exitCode != .success, comment)
        }
        let isNew = error != nil && use == .decodeToNew
        #expect(try !isNew || !Files.names(in: directory.path).contains("place"), comment)
        if !isNew { #expect(try contents() == (error == nil ? after : before), comment) }
        #expect(Files.openPaths(under: directory.path).isEmpty, comment)
        return report
    }

    /// Puts what was there before in its place.
    ///
    /// - Returns: The path that the command is given.
    private func prepare() throws -> String {
        let place = "\(directory.path)/place"
        _ = try ChildProcess.firstLine(of: "sh", "-c", "rm -rf '\(place)' '\(directory.path)/link'; echo")
        if use != .decodeToNew { try Files.makeDirectory(place) }
        for (name, text) in before { _ = try directory.file("place/\(name)", Array(text.utf8)) }
        switch use {
        case .decodeToNew, .decodeReplacing: return place
        case .encodeToNew, .encodeReplacing: return "\(place)/a"
        case .encodeThroughLink:
            try Files.makeLink("\(directory.path)/link", to: "place/a")
            return "\(directory.path)/link"
        }
    }

    private func run(_ target: String) async -> ToolError? {
        do throws(ToolError) {
            switch use {
            case .decodeToNew, .decodeReplacing:
                let arguments = ["\(directory.path)/body", "--boundary", "B", "--force", "--into", target]
                try await DecodeCommand(OptionParser.parse(arguments, DecodeCommand.groups.flatMap(\.options))).run()
            case .encodeToNew, .encodeReplacing, .encodeThroughLink:
                let part = "f=@\(directory.path)/content;filename=f"
                let arguments = ["--boundary", "B", "-F", part, "-o", target]
                try await EncodeCommand(OptionParser.parse(arguments, EncodeCommand.groups.flatMap(\.options))).run()
            }
            return nil
        } catch {
            return error
        }
    }

    private func contents() throws -> [String: String] {
        let place = "\(directory.path)/place"
        return try Dictionary(
            uniqueKeysWithValues: Files.names(in: place).map { name in
                (name, String(decoding: try TemporaryDirectory.contents(ofFile: "\(place)/\(name)"), as: UTF8.self))
            }
        )
    }
}
