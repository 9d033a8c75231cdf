import SluiceTestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

@Suite struct SignalTests {
    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `A signal ends an upload cleanly, and the process by itself`(signal: Int32) async throws {
        let directory = try TemporaryDirectory()
        let server = try ServerProcess(
            "raw_server.py",
            "--mode",
            "slow-read",
            "--rate",
            "2000000",
            "--record",
            "\(directory.path)/recordings"
        )
        let big = try directory.sparseFile("big", size: 1 << 30)
        let output = try directory.file("answer", Array("old".utf8))
        let upload = try ToolProcess(
            [ToolProcess.tool, "upload", server.url("/"), "--progress", "json", "-F", "a=@\(big)", "-o", output]
        )
        let isUnderWay = await ProcessState.settles(within: 20) { upload.errorsSoFar.split(separator: "\n").count > 2 }
        #expect(isUnderWay)
        #expect(try names(directory).contains { $0.hasPrefix(".sluice-") })
        let sent = SuspendingClock.now
        upload.send(signal)
        let outcome = try await upload.outcome()
        #expect(outcome.signal == signal)
        // By itself, and not because its time was up.
        #expect(outcome.end - sent < .seconds(1.9))
        #expect(!outcome.errors.contains("sluice:"))
        #expect(try TemporaryDirectory.contents(ofFile: output) == Array("old".utf8))
        #expect(try names(directory) == ["answer", "big", "recordings"])
        // The server has seen that there is no more to come.
        let facts = "\(directory.path)/recordings/request-1.json"
        #expect(await ProcessState.settles(within: 20) { (try? TemporaryDirectory.contents(ofFile: facts)) != nil })
        let recorded = String(decoding: try TemporaryDirectory.contents(ofFile: facts), as: UTF8.self)
        #expect(recorded.contains(#""complete": false"#))
    }

    @Test func `An ignored SIGINT stays ignored`() async throws {
        let run = try await shell(
            #"trap '' INT; (sleep 0.3; printf x) | "$sluice" encode --boundary B -F a=@- & sleep 0.1; kill -INT %1; wait %1; echo $?"#
        )
        #expect(run.text.hasSuffix("\r\n\r\nx\r\n--B--\r\n0\n"))
    }

    private func names(_ directory: TemporaryDirectory) throws -> [String] {
        try Files.names(in: directory.path)
    }
}
