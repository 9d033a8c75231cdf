import SluiceTestSupport
import Testing

@Suite struct MemoryTests {
    /// The most that the tool may have in memory at any time, in KiB.
    ///
    /// A debug build takes some more than a release, and most of either is the libraries' code.
    private static let most = 32 * 1024

    @Test func `20 GiB are sent in the memory that one MiB takes`() async throws {
        let directory = try TemporaryDirectory()
        let server = try ServerProcess("upload_server.py")
        func peak(_ size: Int, _ path: String) async throws -> Int {
            let file = try directory.sparseFile("file", size: size)
            let upload = try ToolProcess(
                [ToolProcess.tool, "upload", server.url(path), "--progress", "none", "-f", "-F", "a=@\(file)"]
            )
            let run = try await upload.outcome(within: 240)
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.peakMemory < Self.most)
            return run.peakMemory
        }
        // Slow, so that there is time to look at its memory.
        let small = try await peak(1 << 20, "/slow-response?seconds=1")
        let large = try await peak(20 << 30, "/discard")
        #expect(large - small < 4 * 1024, "\(small) and \(large) KiB")
    }

    @Test func `A body of a GiB is written in the memory that its headers take`() async throws {
        let directory = try TemporaryDirectory()
        let file = try directory.sparseFile("file", size: 1 << 30)
        let run = try await shell(
            #""$sluice" encode -F "a=@$1" | cat > /dev/null; "$sluice" encode -F "a=@$1" -o "$1.body""#,
            file
        )
        #expect(run.status == 0)
        let direct = try await sluice("encode", "-F", "a=@\(file)", "-o", "/dev/null")
        #expect(direct.peakMemory < Self.most)
    }
}
