import SluiceTestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

@Suite(.timeLimit(.minutes(5))) struct DownloadCommandTests {
    private let directory: TemporaryDirectory
    private let target: String
    private static let server = Task { try await FaultServer() }
    private let server: FaultServer

    init() async throws {
        directory = try TemporaryDirectory()
        target = "\(directory.path)/file"
        server = try await Self.server.value
    }

    private func download(_ url: String, _ arguments: String...) async throws -> ToolProcess.Outcome {
        try await sluice(["download", url, "--progress", "none"] + arguments)
    }

    private func content() throws -> [UInt8] { try TemporaryDirectory.contents(ofFile: target) }

    // MARK: Where it goes

    @Test func `The file is what the server has, and nothing is left beside it`() async throws {
        let run = try await download(server.place().file, "-o", target, "--sha256", try server.sha256(), "--fsync")
        #expect(run.status == 0)
        #expect(run.errors == "")
        #expect(run.output == [])
        #expect(try content() == server.content)
        #expect(try directory.names == ["file"])
    }

    @Test(arguments: [[], ["-o", "-"], ["-o", "/dev/stdout"]])
    func `Without a file it goes to standard output`(output: [String]) async throws {
        let run = try await sluice(["download", server.place().file, "--progress", "none"] + output)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output == server.content)
    }

    @Test func `A file may be named as the URL's last part`() async throws {
        let run = try await shell(
            #"cd "$1" && "$sluice" download "$2" -O --progress none"#,
            directory.path,
            server.place().file
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(try directory.names == ["file"])
        #expect(try content() == server.content)
    }

    @Test func `What is no file is written to as it is`() async throws {
        let run = try await shell(
            #"mkfifo "$1"; "$sluice" download "$2" -o "$1" --progress none & cat "$1"; wait $!; echo -n " $?""#,
            target,
            server.place().file
        )
        #expect(run.output == server.content + Array(" 0".utf8))
        #expect(try directory.names == ["file"])
        #expect(try await download(server.place().file, "-o", "/dev/full").status == 74)
    }

    @Test func `A reader that is slow holds the server up, not the memory`() async throws {
        let url = try UploadServers.url("/big-response?bytes=300000000")
        let run = try await shell(
            #"("$sluice" download "$1" --progress none; echo $? >&2) | (sleep 2; wc -c); "#
                + #"("$sluice" download "$1" --progress none; echo $? >&2) | head -c 1000 | wc -c"#,
            url
        )
        #expect(run.text == "300000000\n1000\n")
        #expect(run.errors == "0\n141\n")
        let slow = try ToolProcess([
            "/bin/bash", "-c", #"exec "$0" download "$1" --progress none > >(sleep 2; exec cat > /dev/null)"#,
            ToolProcess.tool, url,
        ])
        let outcome = try await slow.outcome()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.peakMemory < 64 * 1024)
    }

    // MARK: What is not the file

    @Test(arguments: ["404", "500", "204", "302", "203long", "206long", "404long"])
    func `An answer that is not the file never becomes it`(status: String) async throws {
        try directory.file("file", Array("old".utf8))
        let toFile = try await download(server.place(status).file, "-o", target)
        #expect(toFile.status == 22)
        #expect(toFile.errors.contains("the server answered \(status.prefix(3)) No, which is not the file"))
        #expect(try content() == Array("old".utf8))
        #expect(try directory.names == ["file"])
        let toOutput = try await download(server.place(status).file)
        #expect(toOutput.status == 22)
        #expect(toOutput.output.isEmpty)
        #expect(toOutput.errors.contains("the server answered \(status.prefix(3)) No, which is not the file"))
    }

    @Test func `A redirect is followed if asked for, and named if not`() async throws {
        let url = try UploadServers.url("/redirect/302?to=/echo-headers")
        let run = try await download(url, "-o", target)
        #expect(run.status == 22)
        #expect(run.errors.contains("but is at /echo-headers; -L follows there"))
        #expect(try await download(url, "-o", target, "-L").status == 0)
        #expect(try JSONValue(content())["method"].string == "GET")
    }

    @Test func `A CRC-32 is checked`() async throws {
        try directory.file("content", server.content)
        // The last eight bytes of what gzip writes are the CRC-32 and the length (RFC 1952 section 2.3.1).
        let script = #"gzip -c "$1/content" | tail -c 8 | head -c 4 | od -An -tx4 | tr -d ' \n'"#
        let crc = try await shell(script, directory.path).text
        #expect(try await download(server.place().file, "-o", target, "--crc32", crc).status == 0)
        let wrong = crc == "00000000" ? "00000001" : "00000000"
        #expect(try await download(server.place().file, "-o", target, "--crc32", wrong).status == 65)
        #expect(try content() == server.content)
    }

    @Test(arguments: [[], ["-C"]])
    func `A wrong checksum leaves the old file whole and nothing beside it`(options: [String]) async throws {
        try directory.file("file", Array("old".utf8))
        let wrong = String(repeating: "0", count: 64)
        let run = try await sluice(
            ["download", server.place().file, "-o", target, "--sha256", wrong, "--progress", "none"] + options
        )
        #expect(run.status == 65)
        #expect(run.errors.contains("its SHA-256 is \(try server.sha256())"))
        #expect(try content() == Array("old".utf8))
        #expect(try directory.names == ["file"])
    }

    // MARK: Going on

    @Test func `A download that breaks off is gone on with`() async throws {
        try directory.file("file", Array("old".utf8))
        let place = server.place("close@400000", "close@300000")
        let first = try await download(place.file, "-o", target)
        #expect(first.status == 74)
        #expect(first.errors.contains("what came is kept, and -C goes on with it"))
        #expect(try content() == Array("old".utf8))
        #expect(try directory.names == ["file", "file.sluice-part", "file.sluice-part.info"])
        #expect(try await download(place.file, "-o", target, "-C").status == 74)
        // As curl has it written.
        let last = try await sluice(
            ["download", place.file, "-o", target, "-C", "-", "--sha256", server.sha256(), "--progress", "plain"]
        )
        #expect(last.status == 0, "\(last.errors)")
        #expect(last.errors.contains("done in 0:") && last.errors.hasSuffix(", from 684 KiB\n"))
        #expect(try content() == server.content)
        #expect(try directory.names == ["file"])
        let requests = try await place.requests()
        #expect(requests.map { $0["range"].string } == [nil, "bytes=400000-", "bytes=700000-"])
        #expect(requests.dropFirst().allSatisfy { !$0["ifRange"].isNull })
    }

    @Test(arguments: [false, true])
    func `A name without room for an ending is gone on with, too, and behind a link`(isLinked: Bool) async throws {
        let long = "\(directory.path)/" + String(repeating: "n", count: 255)
        try directory.file(String(repeating: "n", count: 255), Array("old".utf8))
        let target = isLinked ? "\(directory.path)/link" : long
        if isLinked { #expect(unsafe symlink(long, target) == 0) }
        let place = server.place("close@400000")
        let first = try await download(place.file, "-o", target)
        #expect(first.status == 74)
        #expect(first.errors.contains("what came is kept, and -C goes on with it"))
        #expect(try await download(place.file, "-o", target, "-C").status == 0)
        #expect(try TemporaryDirectory.contents(ofFile: long) == server.content)
        #expect(try await place.requests().map { $0["range"].string } == [nil, "bytes=400000-"])
    }

    @Test func `Without -C all is asked for, and what was left stays until it comes`() async throws {
        let place = server.place("close@400000", "404", "ok")
        #expect(try await download(place.file, "-o", target).status == 74)
        #expect(try await download(place.file, "-o", target).status == 22)
        #expect(try directory.names == ["file.sluice-part", "file.sluice-part.info"])
        #expect(try await download(place.file, "-o", target).status == 0)
        #expect(try content() == server.content)
        #expect(try await place.requests().allSatisfy { $0["range"].isNull })
        #expect(try directory.names == ["file"])
    }

    @Test func `A changed file is downloaded from its start, and that is said`() async throws {
        let place = server.place("close@400000", "other")
        #expect(try await download(place.file, "-o", target).status == 74)
        let run = try await download(place.file, "-o", target, "-C")
        #expect(run.status == 0)
        #expect(run.errors.contains("what an earlier download left was of no use"))
        #expect(try content() == server.other)
        #expect(try directory.names == ["file"])
    }

    @Test func `Nothing is left if asked for`() async throws {
        let run = try await download(server.place("close@400000").file, "-o", target, "--remove-on-error")
        #expect(run.status == 74)
        #expect(!run.errors.contains("-C"))
        #expect(try directory.names == [])
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `A signal keeps what came, and -C goes on`(signal: Int32) async throws {
        let place = server.place("stall@500000")
        let interrupted = try ToolProcess([
            ToolProcess.tool, "download", place.file, "-o", target, "--progress", "json",
        ])
        try await isUnderWay()
        let sent = SuspendingClock.now
        interrupted.send(signal)
        let outcome = try await interrupted.outcome()
        #expect(outcome.signal == signal)
        #expect(outcome.end - sent < .seconds(1.9))
        #expect(outcome.errors.contains("what came is kept, and -C goes on with it"))
        #expect(!outcome.errors.contains("cancelled"))
        #expect(try directory.names == ["file.sluice-part", "file.sluice-part.info"])
        #expect(try await download(place.file, "-o", target, "-C").status == 0)
        #expect(try content() == server.content)
        let range = try await place.requests().last?["range"].string
        #expect(range?.hasPrefix("bytes=") == true)
    }

    /// Waits until the head of an answer has come, and some of what follows it, as far as one can see it.
    private func isUnderWay() async throws {
        let record = "\(target).sluice-part.info"
        #expect(await ProcessState.settles(within: 30) { (try? TemporaryDirectory.contents(ofFile: record)) != nil })
        try await Task.sleep(for: .seconds(1))
    }

    @Test func `A signal leaves nothing if asked for, and ends a stream at once`() async throws {
        for output in [["-o", target, "--remove-on-error"], ["-o", "-"]] {
            let place = server.place("stall@500000")
            let run = try ToolProcess([ToolProcess.tool, "download", place.file, "--progress", "json"] + output)
            while try await place.requests().isEmpty { try await Task.sleep(for: .milliseconds(50)) }
            try await Task.sleep(for: .milliseconds(500))
            run.send(SIGINT)
            let outcome = try await run.outcome()
            #expect(outcome.signal == SIGINT)
            #expect(!outcome.errors.contains("is kept"))
            #expect(try directory.names == [])
        }
    }

    // MARK: Trying again

    @Test func `A download is tried again where it broke off, and each time is told`() async throws {
        let place = server.place("503/1", "reset@300000", "500", "close@200000")
        let start = SuspendingClock.now
        let run = try await download(place.file, "-o", target, "--retry", "4", "--sha256", try server.sha256())
        #expect(run.status == 0, "\(run.errors)")
        #expect(SuspendingClock.now - start > .seconds(1))
        let lines = run.errors.split(separator: "\n")
        #expect(lines.count == 4)
        #expect(lines.first == "sluice: the server answered 503; trying again in 1.0 s, attempt 2")
        #expect(lines.dropFirst().first?.hasSuffix(" s, attempt 3") == true)
        #expect(try content() == server.content)
        let ranges = try await place.requests().map { $0["range"].string }
        #expect(ranges == [nil, nil, "bytes=300000-", "bytes=300000-", "bytes=500000-"])
    }

    @Test func `A stream goes on in the middle`() async throws {
        let place = server.place("503/0", "close@300000")
        let run = try await download(place.file, "--retry", "3")
        #expect(run.status == 0)
        #expect(run.output == server.content)
        #expect(run.errors == "sluice: trying again, attempt 2\nsluice: trying again, attempt 3\n")
    }

    @Test func `Retries end, and the last answer tells why`() async throws {
        let place = server.place("503/0", "503/0", "503/0")
        let run = try await download(place.file, "-o", target, "--retry", "1")
        #expect(run.status == 22)
        #expect(try await place.requests().count == 2)
        #expect(try directory.names == [])
        // Nor is begun what would begin too late.
        let late = server.place("503/20")
        let limited = try await download(late.file, "-o", target, "--retry", "9", "--retry-max-time", "5")
        #expect(limited.status == 22)
        #expect(try await late.requests().count == 1)
    }

    @Test func `Limits of time end a download, and what came stays`() async throws {
        let idle = try await download(server.place("stall@1000").file, "-o", target, "--idle-timeout", "3")
        #expect(idle.status == 75)
        #expect(idle.errors.contains("nothing moved for 3.0 seconds"))
        #expect(try directory.names == ["file.sluice-part", "file.sluice-part.info"])
        let total = try await download(server.place("stall@1000").file, "-o", target, "-m", "0.5")
        #expect(total.status == 75)
        #expect(total.errors.contains("raise --max-time"))
    }

    @Test func `Two downloads of one file do not mix`() async throws {
        let first = try ToolProcess(
            [ToolProcess.tool, "download", server.place("stall@500000").file, "-o", target, "--progress", "json"]
        )
        try await isUnderWay()
        let second = try await download(server.place().file, "-o", target)
        #expect(second.status == 75)
        #expect(second.errors.contains("another download is writing this file"))
        first.send(SIGTERM)
        #expect(try await first.outcome().signal == SIGTERM)
    }
}
