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
/// Disks and directories that refuse, each in a process of its own that is forbidden something.
@Suite struct FileFaultTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test func `A file that may not grow is an error, and what came is gone on with later`() async throws {
        let url = try await Fixtures.faults.place().file()
        await #expect(processExitsWith: .success) { [url = url as String, path = directory.path as String] in
            let client = CurlClient()
            var limit = rlimit(rlim_cur: 300_000, rlim_max: rlim_t.max)
            #expect(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            var request = CurlRequest(url: url)
            request.retry = .quick(5)
            let target = "\(path)/target"
            let error = await failure { try await client.download(request, toFile: target).response }
            #expect(error?.code == .fileFailed)
            #expect(error?.errno == EFBIG)
            #expect(error?.path == target)
            limit.rlim_cur = rlim_t.max
            #expect(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            let file = try await client.download(request, toFile: target)
            #expect(file.resumedBytes == 300_000)
            #expect(file.byteCount == 1_000_003)
            await client.close()
        }
        #expect(
            try await difference(
                TemporaryDirectory.contents(ofFile: "\(directory.path)/target"),
                Fixtures.faults.content
            ) == nil
        )
    }

    @Test(.enabled("mounting a small file system takes root", { geteuid() == 0 }))
    func `A disk that is full is an error that says so, and the old file stays`() async throws {
        let small = "\(directory.path)/small"
        try #require(unsafe mkdir(small, 0o755) == 0)
        try #require(unsafe mount("tmpfs", small, "tmpfs", 0, "size=512k") == 0)
        defer { unsafe umount2(small, Int32(MNT_DETACH)) }
        let faults = try await Fixtures.faults
        let client = CurlClient()
        let target = "\(small)/target"
        _ = try await client.download(CurlRequest(url: faults.place().file("small")), toFile: target)
        let error = try #require(
            await failure {
                try await client.download(CurlRequest(url: faults.place().file()), toFile: target).response
            }
        )
        #expect(error.code == .fileFailed)
        #expect(error.errno == ENOSPC)
        #expect(error.description.contains("No space"))
        #expect(try TemporaryDirectory.contents(ofFile: target) == faults.small)
    }

    @Test(arguments: ["directory", "file", "partial"])
    func `What may not be written is an error before anything is asked`(what: String) async throws {
        try #require(unsafe chmod(directory.path, what == "directory" ? 0o555 : 0o777) == 0)
        try directory.file("target", [1, 2, 3])
        try #require(unsafe chmod("\(directory.path)/target", what == "file" ? 0o444 : 0o666) == 0)
        // Somebody else's, in a directory that everybody can write to.
        if what == "partial" { try directory.file("target.sluice-part", [1, 2, 3]) }
        let place = try await Fixtures.faults.place()
        let target = "\(directory.path)/target"
        await #expect(processExitsWith: .success) { [url = place.file() as String, target = target as String] in
            // Nothing is forbidden to root.
            if geteuid() == 0 { #expect(setgid(65534) == 0 && setuid(65534) == 0) }
            let client = CurlClient()
            let error = await failure { try await client.download(CurlRequest(url: url), toFile: target).response }
            #expect(error?.code == .fileFailed, "\(String(describing: error))")
            await client.close()
        }
        #expect(try await place.requests().isEmpty)
        #expect(try TemporaryDirectory.contents(ofFile: target) == [1, 2, 3])
        #expect(try directory.names().contains("target.sluice-part") == (what == "partial"))
    }

    @Test func `A file that is killed is gone on with by another process`() async throws {
        let place = try await Fixtures.faults.place("stall@700000")
        await #expect(processExitsWith: .failure) { [url = place.file() as String, path = directory.path as String] in
            let client = CurlClient()
            let download = Task { try await client.download(CurlRequest(url: url), toFile: "\(path)/target") }
            // A block at least is there.
            while ((try? TemporaryDirectory.contents(ofFile: "\(path)/target.sluice-part").count) ?? 0) < 256 * 1024 {
                try await Task.sleep(for: .milliseconds(10))
            }
            kill(getpid(), SIGKILL)
            _ = await download.result
        }
        let file = try await CurlClient().download(CurlRequest(url: place.file()), toFile: "\(directory.path)/target")
        #expect(file.resumedBytes >= 256 * 1024)
        #expect(try await difference(TemporaryDirectory.contents(ofFile: file.path), Fixtures.faults.content) == nil)
    }

    @Test func `Downloads leave no descriptor and no thread behind, however they end`() async throws {
        let faults = try await Fixtures.faults
        let urls = [
            faults.place().file(), faults.place("reset@300000", "reset@300000").file(),
            faults.place("404", "404").file(),
            faults.place("stall@300000", "stall@300000").file(), faults.place("drop", "drop").file(),
        ]
        await #expect(processExitsWith: .success) { [urls = urls as [String], path = directory.path as String] in
            try await Leaks.expectNone {
                let client = CurlClient()
                for (index, url) in urls.enumerated() {
                    var request = CurlRequest(url: url)
                    request.idleTimeout = .seconds(0.5)
                    _ = try? await client.download(request, toFile: "\(path)/\(index)")
                    // Nothing is open when it has come to its end, not later.
                    #expect(!ProcessState.openDescriptors().values.contains { $0.hasPrefix(path) })
                    _ = try? await client.download(request, toFile: "/nowhere/x")
                    let chunks = try? await client.downloadChunks(request).chunks
                    if let chunks { for try await _ in chunks { break } }
                }
                await client.close()
            }
        }
    }

    @Test func `Cancelling leaves the part that came, and nothing open`() async throws {
        let place = try await Fixtures.faults.place("stall@600000")
        await #expect(processExitsWith: .success) { [url = place.file() as String, path = directory.path as String] in
            let client = CurlClient()
            let download = Task {
                await failure { try await client.download(CurlRequest(url: url), toFile: "\(path)/target").response }
            }
            let partial = "\(path)/target.sluice-part"
            // Two blocks are there, which need not be full, and what came behind them is on its way.
            func size() -> Int { (try? TemporaryDirectory.contents(ofFile: partial).count) ?? 0 }
            #expect(await ProcessState.settles(within: 30) { size() >= 400_000 })
            try await Task.sleep(for: .milliseconds(300))
            download.cancel()
            #expect(await download.value?.code == .cancelled)
            #expect(!ProcessState.openDescriptors().values.contains { $0.hasPrefix(path) })
            await client.close()
            #expect(await ProcessState.settles { !ProcessState.threadNames().contains("sluice-disk") })
        }
        // All that had come, also what was not a whole block.
        #expect(try directory.size(of: "\(directory.path)/target.sluice-part") == 600_000)
    }

    @Test func `Closing the client ends downloads, and keeps what came`() async throws {
        let client = CurlClient()
        let faults = try await Fixtures.faults
        let path = directory.path
        let downloads = (0..<10).map { index in
            Task {
                await failure {
                    let request = CurlRequest(url: faults.place("stall@\(index * 50_000)").file())
                    return try await client.download(request, toFile: "\(path)/\(index)").response
                }
            }
        }
        #expect(await eventually { ((try? directory.names()) ?? []).count >= 20 })
        await client.close()
        for download in downloads { #expect(await download.value?.code == .clientClosed) }
        #expect(try directory.names().filter { $0.hasSuffix(".info") }.count >= 9)
    }
}
#endif
