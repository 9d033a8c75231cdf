import Glibc
import SluiceTestSupport
import Testing

@testable import Sluice

/// Every system call of a save is made to fail: the file is whole, or there is an error and no file.
@Suite struct SaveFaultTests {
    @Test(arguments: [EINTR, EAGAIN, EIO, ENOSPC, EDQUOT, EPIPE, EBADF, ENOMEM, EMFILE])
    func `A save whose system calls fail leaves a whole file or none`(number: Int32) async {
        await #expect(processExitsWith: .success) { [number = number as Int32] in
            try await SaveFaultBench().sweep(.failure(Errno(number)))
        }
    }

    @Test(arguments: [1, 1000])
    func `A disk that takes a few bytes at a time gets them all`(count: Int) async {
        await #expect(processExitsWith: .success) { [count = count as Int] in
            try await SaveFaultBench().sweep(.short(count))
        }
    }
}

private struct SaveFaultBench {
    private let content = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 4) }

    func sweep(_ fault: SystemFaults.Fault) async throws {
        // What the first run sets up for good is nothing left behind.
        _ = try await attempt(nil)
        for call in 1...1000 {
            // Interrupted for good, a call is never done.
            for staysBroken in fault == .failure(.interrupted) ? [false] : [false, true] {
                let report = try await attempt(.init(call: call, fault, staysBroken: staysBroken))
                if report.hit == nil, call > 1 { return }
            }
        }
        Issue.record("a save makes no end of calls")
    }

    private func attempt(_ plan: SystemFaults.Plan?) async throws -> SystemFaults.Report {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/f"
        let head = Array("--b\r\nContent-Disposition: form-data; name=a; filename=f\r\n\r\n".utf8)
        let upstream = Upstream().chunks(chunked(head + content + Array("\r\n--b--".utf8), [30_000]))
        let reader = try MultipartReader(
            upstream,
            contentType: "multipart/form-data; boundary=b",
            limits: ParserLimits(fileBytes: 1 << 20, totalBytes: 1 << 20)
        )
        SystemFaults.arm(plan)
        let error = await failure { for try await part in reader { try await part.save(to: path) } }
        let report = SystemFaults.disarm()
        let comment: Comment = "\(String(describing: plan)) (\(report.hit ?? "none"))"
        let entries = try ChildProcess(["/bin/sh", "-c", "cd \"$0\"; echo $(ls -A)", directory.path]).readLine()
        if let error {
            guard case .failure(let number)? = plan?.fault else {
                Issue.record("\(comment): \(error)")
                return report
            }
            #expect(error.errno == number.rawValue && number != .interrupted, comment)
            #expect((entries ?? "").isEmpty, comment)
        } else {
            #expect(entries == "f", comment)
            #expect(difference(try TemporaryDirectory.contents(ofFile: path), content) == nil, comment)
        }
        let isTidy = await ProcessState.settles {
            Files.openPaths(under: directory.path).isEmpty
                && !ProcessState.threadNames().contains { $0.hasPrefix("sluice-") }
        }
        #expect(isTidy, comment)
        return report
    }
}
