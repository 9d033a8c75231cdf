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

/// Downloads to files, and what becomes of those that break off.
@Suite struct FileDownloadTests {
    private let client = CurlClient()
    private let directory: TemporaryDirectory
    private let target: String

    init() throws {
        directory = try TemporaryDirectory()
        target = "\(directory.path)/target"
    }

    private func contents(_ path: String? = nil) throws -> [UInt8] {
        try TemporaryDirectory.contents(ofFile: path ?? target)
    }

    /// The names of what is in the directory.
    private func names() throws -> [String] { try directory.names() }

    // MARK: Whole

    @Test(arguments: ["http", "https", "unix"], ["http1_1", "automatic"])
    func `A file of nginx's arrives byte for byte`(scheme: String, version: String) async throws {
        let nginx = try await Fixtures.nginx
        let content = TemporaryDirectory.noise(3_000_001)
        let name = "download-\(scheme)-\(version)"
        try nginx.store(name, content)
        let url = scheme == "https" ? nginx.secureURL("/store/\(name)") : nginx.url("/store/\(name)")
        var request = try await Fixtures.secureRequest(nil, url: url)
        request.httpVersion = version == "automatic" ? .automatic : .http1_1
        if scheme == "unix" { request.unixSocket = nginx.unix }
        let reports = Reports()
        let file = try await client.download(request, toFile: target) { reports.add($0) }
        #expect(try difference(contents(), content) == nil)
        #expect(file.path == target)
        #expect(file.byteCount == 3_000_001)
        #expect(file.resumedBytes == 0)
        #expect(file.response.status == 200)
        #expect(file.response.httpVersion == (scheme == "https" && version == "automatic" ? "HTTP/2" : "HTTP/1.1"))
        #expect(try names() == ["target"])
        #expect(reports.all.last?.isFinished == true)
        #expect(reports.all.last?.completedBytes == 3_000_001)
        #expect(reports.all.allSatisfy { $0.completedBytes <= 3_000_001 })
    }

    @Test(arguments: ["", "length=no"])
    func `An empty file is a file`(query: String) async throws {
        let url = try await Fixtures.faults.place("ok", query: query).file("empty")
        let file = try await client.download(CurlRequest(url: url), toFile: target)
        #expect(file.byteCount == 0)
        #expect(try contents().isEmpty)
        #expect(try names() == ["target"])
    }

    @Test func `A file of unknown length is taken to its end`() async throws {
        let faults = try await Fixtures.faults
        let url = faults.place("ok", query: "length=no").file()
        let file = try await client.download(CurlRequest(url: url), toFile: target)
        #expect(file.byteCount == Int64(faults.content.count))
        #expect(try difference(contents(), faults.content) == nil)
    }

    @Test func `Redirects lead to the file`() async throws {
        let nginx = try await Fixtures.nginx
        try nginx.store("file", Array("moved".utf8))
        let file = try await client.download(CurlRequest(url: nginx.url("/moved-file")), toFile: target)
        #expect(try contents() == Array("moved".utf8))
        #expect(file.response.redirectCount == 1)
        #expect(file.response.url == nginx.url("/store/file"))
    }

    // MARK: The target

    @Test func `A new file has the mode that any new file has, and a replaced one keeps its own`() async throws {
        let url = try await Fixtures.faults.place().file("small")
        _ = try await client.download(CurlRequest(url: url), toFile: target)
        let plain = try directory.mode(of: directory.file("plain", []))
        // `file` asks for 0644.
        #expect(try directory.mode(of: target) & 0o644 == plain)
        try #require(unsafe chmod(target, 0o640) == 0)
        _ = try await client.download(CurlRequest(url: url), toFile: target)
        #expect(try directory.mode(of: target) == 0o640)
    }

    @Test func `Nobody else can read a file that is not whole`() async throws {
        let url = try await Fixtures.faults.place("reset@500000").file()
        await #expect(throws: TransferError.self) { try await client.download(CurlRequest(url: url), toFile: target) }
        #expect(try directory.mode(of: "\(target).sluice-part") == 0o600)
        #expect(try directory.mode(of: "\(target).sluice-part.info") == 0o600)
    }

    @Test func `A symbolic link stays, and what it leads to is replaced`() async throws {
        let faults = try await Fixtures.faults
        let real = try directory.file("real", [1, 2, 3])
        try #require(unsafe symlink(real, target) == 0)
        let file = try await client.download(CurlRequest(url: faults.place().file("small")), toFile: target)
        #expect(file.path == real)
        #expect(try contents(real) == faults.small)
        var status = stat()
        #expect(unsafe lstat(target, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
        #expect(try names() == ["real", "target"])
    }

    @Test(arguments: ["directory", "dangling", "fifo", "missing/file", "", "a\u{0}b"])
    func `What cannot be a file is an error before anything is asked`(kind: String) async throws {
        var path = "\(directory.path)/\(kind)"
        switch kind {
        case "directory": try #require(unsafe mkdir(path, 0o755) == 0)
        case "dangling": try #require(unsafe symlink("nowhere", path) == 0)
        case "fifo": try #require(unsafe mkfifo(path, 0o600) == 0)
        case "": path = ""
        default: break
        }
        let place = try await Fixtures.faults.place()
        let before = try names()
        let error = await failure { try await client.download(CurlRequest(url: place.file()), toFile: path).response }
        #expect(error?.code == (kind == "" || kind.contains("\u{0}") ? .invalidRequest : .fileFailed))
        #expect(try await place.requests().isEmpty)
        #expect(try names() == before)
        if error?.code == .fileFailed { #expect(error?.path == path && "\(error!)".contains(kind)) }
    }

    @Test(arguments: ["link", "fifo", "hard link"])
    func `What lies where the partial file is to be is no trap`(kind: String) async throws {
        let victim = try directory.file("victim", [1, 2, 3])
        let partial = "\(target).sluice-part"
        switch kind {
        case "link": try #require(unsafe symlink(victim, partial) == 0)
        case "fifo": try #require(unsafe mkfifo(partial, 0o600) == 0)
        default: try #require(unsafe link(victim, partial) == 0)
        }
        let url = try await Fixtures.faults.place().file("small")
        let error = await failure { try await client.download(CurlRequest(url: url), toFile: target).response }
        #expect(error?.code == .fileFailed)
        #expect(error?.description.contains(partial) == true)
        #expect(try contents(victim) == [1, 2, 3])
    }

    @Test func `Two downloads to one file are one and an error`() async throws {
        let faults = try await Fixtures.faults
        let stalled = faults.place("stall@100000").file()
        let first = Task {
            await failure { try await client.download(CurlRequest(url: stalled), toFile: target).response }
        }
        let partial = "\(target).sluice-part"
        #expect(await ProcessState.settles { unsafe access(partial, F_OK) == 0 })
        let second = await failure {
            try await client.download(CurlRequest(url: faults.place().file()), toFile: target).response
        }
        #expect(second?.code == .fileInUse)
        first.cancel()
        #expect(await first.value?.code == .cancelled)
        let file = try await client.download(CurlRequest(url: faults.place().file()), toFile: target)
        #expect(file.byteCount == Int64(faults.content.count))
    }

    // MARK: The old file

    @Test(arguments: ["reset@500000", "close@500000", "404", "503", "drop"])
    func `The old file stays whole where the download fails`(fault: String) async throws {
        try directory.file("target", [1, 2, 3])
        let url = try await Fixtures.faults.place(fault).file()
        let error = await failure { try await client.download(CurlRequest(url: url), toFile: target).response }
        #expect(error?.code == (fault.hasPrefix("4") || fault.hasPrefix("5") ? .unexpectedStatus : .connectionLost))
        #expect(try contents() == [1, 2, 3])
        #expect(try names().contains("target.sluice-part") == fault.contains("@"))
    }

    @Test func `An answer that is not the file is in the error`() async throws {
        let url = try await Fixtures.faults.place("404").file()
        let error = try #require(
            await failure { try await client.download(CurlRequest(url: url), toFile: target).response }
        )
        #expect(error.code == .unexpectedStatus)
        #expect(error.response?.status == 404)
        #expect(error.response.map { String(decoding: $0.body, as: UTF8.self) } == "refused with 404\n")
        #expect(error.description.contains("404"))
        #expect(try names() == [])
    }

    @Test func `Nothing is left of a download that cannot be gone on with`() async throws {
        var options = FileDownloadOptions()
        options.resumes = false
        let faults = try await Fixtures.faults
        for (url, options) in [
            (faults.place("reset@500000").file(), options),
            (faults.place("reset@500000", query: "etag=weak").file(), .init()),
            (faults.place("reset@500000", query: "etag=none&modified=now").file(), .init()),
            // What is compressed has the date of what is not.
            (faults.place("reset@500000", query: "etag=none&modified=yes&coding=gzip").file(), .init()),
        ] {
            let error = await failure {
                try await client.download(CurlRequest(url: url), toFile: target, options: options).response
            }
            #expect(error?.code == .connectionLost)
            #expect(try names() == [])
        }
    }

    // MARK: Going on

    /// Breaks a download off, and gives the place where it can be gone on with.
    private func broken(_ faults: String..., query: String = "") async throws -> FaultServer.Place {
        let place = try await Fixtures.faults.place(faults.joined(separator: ","), query: query)
        let error = await failure { try await client.download(CurlRequest(url: place.file()), toFile: target).response }
        #expect(error?.code == .connectionLost)
        #expect(try names() == ["target.sluice-part", "target.sluice-part.info"])
        return place
    }

    @Test(arguments: ["reset@600000", "close@600000", "close@1"], ["", "etag=none&modified=yes"])
    func `A download goes on where the one before broke off, by another client`(
        fault: String,
        query: String
    ) async throws {
        let place = try await broken(fault, query: query)
        let file = try await CurlClient().download(CurlRequest(url: place.file()), toFile: target)
        #expect(try await difference(contents(), Fixtures.faults.content) == nil)
        #expect(file.resumedBytes > 0 && file.resumedBytes <= 600_000)
        #expect(file.response.status == 206)
        let asked = try #require(try await place.requests().last)
        #expect(asked.range == "bytes=\(file.resumedBytes)-")
        #expect(asked.ifRange?.hasPrefix(query.isEmpty ? "\"" : "") == true)
        #expect(try names() == ["target"])
    }

    @Test(arguments: [
        "other", "whole", "wrong-range", "part-range", "open-range", "bare-206", "two-ranges", "coded-range",
        "untagged-range", "two-tags",
    ])
    func `A download begins anew where the rest is not what was asked for`(fault: String) async throws {
        let place = try await broken("close@600000", fault)
        let file = try await client.download(CurlRequest(url: place.file()), toFile: target)
        let faults = try await Fixtures.faults
        #expect(try difference(contents(), fault == "other" ? faults.other : faults.content) == nil)
        #expect(file.resumedBytes == 0)
        #expect(file.response.status == 200)
        let requests = try await place.requests()
        #expect(requests.count == (["other", "whole"].contains(fault) ? 2 : 3))
        #expect(requests[1].range != nil)
        #expect(try names() == ["target"])
    }

    @Test func `A rest that ends too early is a lost connection, and gone on with`() async throws {
        let place = try await broken("close@600000", "cut-range", "cut-range")
        let error = await failure { try await client.download(CurlRequest(url: place.file()), toFile: target).response }
        #expect(error?.code == .connectionLost)
        #expect(error?.reason.contains("ended after 600500 of the") == true)
        #expect(try names() == ["target.sluice-part", "target.sluice-part.info"])
        var request = CurlRequest(url: place.file())
        request.retry = .quick(2)
        let file = try await client.download(request, toFile: target)
        #expect(try await difference(contents(), Fixtures.faults.content) == nil)
        #expect(file.resumedBytes == 600_500)
        let ranges = try await place.requests().map(\.range)
        #expect(ranges == [nil, "bytes=600000-", "bytes=600500-", "bytes=601000-"])
    }

    @Test func `A download of what is compressed goes on with that only`() async throws {
        let place = try await broken("close@600000", query: "coding=gzip")
        let file = try await client.download(CurlRequest(url: place.file()), toFile: target)
        #expect(try await difference(contents(), Fixtures.faults.content) == nil)
        #expect(file.resumedBytes == 600_000)
    }

    @Test func `A download of unknown length begins anew where what comes may be a part of the rest`() async throws {
        let place = try await broken("reset@600000", "open-range", query: "length=no")
        let file = try await client.download(CurlRequest(url: place.file()), toFile: target)
        #expect(try await difference(contents(), Fixtures.faults.content) == nil)
        #expect(file.resumedBytes == 0)
        #expect(try await place.requests().map { $0.range != nil } == [false, true, false])
    }

    @Test(arguments: [
        String(repeating: "n", count: 238), String(repeating: "n", count: 239), String(repeating: "n", count: 255),
        String(repeating: "é", count: 127) + "n",
    ])
    func `A name may be as long as the file system has it`(name: String) async throws {
        let target = "\(directory.path)/\(name)"
        let faults = try await Fixtures.faults
        let place = faults.place("close@600000")
        let request = CurlRequest(url: place.file())
        #expect(await failure { try await client.download(request, toFile: target).response }?.code == .connectionLost)
        let left = try names()
        try #require(left.count == 2)
        #expect(left[1] == left[0] + ".info" && left[0].hasSuffix(".sluice-part"))
        #expect((left[0] == "\(name).sluice-part") == (name.utf8.count == 238))
        let file = try await client.download(request, toFile: target)
        #expect(file.resumedBytes == 600_000)
        #expect(try difference(contents(target), faults.content) == nil)
        #expect(try names() == [name])
    }

    @Test(arguments: [
        "Content-Length: 99999999999999999999", "Content-Length: 9223372036854775808", "Content-Length: 0x10",
        "Content-Length: 1e1", "Content-Length : 10", "Content-Length: -1", "Content-Length: +5",
        "Content-Length: 5, 6",
        "Content-Length: 5|Content-Length: 9", "Content-Length: ", "Content-Length: 10|Transfer-Encoding: identity",
        "Transfer-Encoding: ", "Transfer-Encoding: chunked, identity",
    ])
    func `What has no certain end does not take a file's place`(framing: String) async throws {
        try directory.file("target", Array("old".utf8))
        let escaped = framing.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let place = try await Fixtures.faults.place(query: "framing=\(escaped)")
        let error = await failure { try await client.download(CurlRequest(url: place.file()), toFile: target).response }
        #expect(error?.code == .protocolError || error?.code == .connectionLost, "\(String(describing: error))")
        #expect(try contents(target) == Array("old".utf8))
    }

    @Test func `What another URL left behind stays until a server sends something else`() async throws {
        let place = try await broken("close@600000")
        let other = try await Fixtures.faults.place("404", "503")
        for _ in 0..<2 {
            var request = CurlRequest(url: other.file())
            request.retry = .never
            let error = await failure { try await client.download(request, toFile: target).response }
            #expect(error?.code == .unexpectedStatus)
        }
        _ = await failure {
            try await client.download(CurlRequest(url: "http://127.0.0.1:9/"), toFile: target).response
        }
        let file = try await client.download(CurlRequest(url: place.file()), toFile: target)
        #expect(file.resumedBytes == 600_000)
        #expect(try await difference(contents(), Fixtures.faults.content) == nil)
    }

    @Test func `A download that another URL left behind is not gone on with`() async throws {
        _ = try await broken("close@600000")
        let place = try await Fixtures.faults.place()
        let file = try await client.download(CurlRequest(url: place.file()), toFile: target)
        #expect(file.resumedBytes == 0)
        #expect(try await place.requests().map(\.range) == [nil])
    }

    @Test(arguments: [
        "", "sluice-partial-1\n", "nonsense", "sluice-partial-2\nurl-sha256 a\netag \"a\"\n", "gone", "no bytes",
        "longer",
    ])
    func `What was left behind and makes no sense is begun anew`(record: String) async throws {
        let place = try await broken("close@600000")
        let partial = "\(target).sluice-part"
        switch record {
        case "gone": try #require(unsafe unlink("\(partial).info") == 0)
        case "no bytes": try #require(unsafe truncate(partial, 0) == 0)
        case "longer": try #require(unsafe truncate(partial, 2_000_000) == 0)
        default: try directory.file("target.sluice-part.info", Array(record.utf8))
        }
        let file = try await client.download(CurlRequest(url: place.file()), toFile: target)
        #expect(file.resumedBytes == 0)
        #expect(try await difference(contents(), Fixtures.faults.content) == nil)
        #expect(try names() == ["target"])
    }

    @Test func `A file that was whole but not in its place is put there after a look at the server`() async throws {
        let place = try await broken("close@600000")
        let faults = try await Fixtures.faults
        try directory.file("target.sluice-part", faults.content)
        let file = try await client.download(CurlRequest(url: place.file()), toFile: target)
        #expect(file.resumedBytes == Int64(faults.content.count - 1))
        #expect(try difference(contents(), faults.content) == nil)
    }

    @Test func `nginx gives the rest of a file`() async throws {
        let nginx = try await Fixtures.nginx
        let content = TemporaryDirectory.noise(2_000_000, seed: 3)
        try nginx.store("resumed", content)
        let request = CurlRequest(url: nginx.url("/slow/resumed"))
        let download = Task { await failure { try await client.download(request, toFile: target).response } }
        let partial = "\(target).sluice-part"
        #expect(await eventually { (try? directory.size(of: partial)) ?? 0 > 0 })
        download.cancel()
        #expect(await download.value?.code == .cancelled)
        let file = try await client.download(request, toFile: target)
        #expect(file.resumedBytes > 0)
        #expect(file.response.status == 206)
        #expect(try difference(contents(), content) == nil)
    }

    @Test func `A server that does not look at If-Range is found out`() async throws {
        // aiohttp gives the rest of whatever is there by now, with that one's ETag.
        let files = try TemporaryDirectory()
        let content = TemporaryDirectory.noise(1_500_000, seed: 5)
        try files.file("file", content)
        let server = try await ServerProcess.started("upload_server.py", "--files", files.path)
        var request = CurlRequest(url: server.url("/files/file"))
        // Slow enough for a test that has to wait for its turn.
        request.downloadRateLimit = 30_000
        let download = Task { [request] in
            await failure { try await client.download(request, toFile: target).response }
        }
        let partial = "\(target).sluice-part"
        #expect(await eventually { (try? directory.size(of: partial)) ?? 0 > 0 })
        download.cancel()
        #expect(await download.value?.code == .cancelled)
        request.downloadRateLimit = nil
        let other = TemporaryDirectory.noise(1_500_001, seed: 6)
        try files.file("file", other)
        let file = try await client.download(request, toFile: target)
        #expect(try difference(contents(), other) == nil)
        #expect(file.resumedBytes == 0)
    }

    // MARK: Retries

    @Test(arguments: ["reset", "close"])
    func `Connections that break anywhere are gone on with`(fault: String) async throws {
        let faults = try await Fixtures.faults
        var request = CurlRequest(url: "")
        request.retry = .quick(2)
        for count in [0, 1, 16_383, 16_384, 262_143, 262_144, 262_145, 500_000, faults.content.count - 1] {
            let place = faults.place("\(fault)@\(count)")
            request.url = place.file()
            let notices = Notices()
            for await event in client.downloadEvents(request, toFile: target) {
                switch event {
                case .progress(let progress): #expect(progress.attempt <= 2)
                case .retrying(let notice): notices.add(notice)
                case .completed(let file):
                    #expect(file.byteCount == Int64(faults.content.count))
                    #expect(file.response.attempts == 2)
                case .failed(let error): Issue.record(error)
                }
            }
            #expect(notices.all.map(\.attempt) == [2])
            #expect(try difference(contents(), faults.content) == nil)
            // Nobody can go on from where nothing is.
            let asked = try await place.requests().last?.range
            if count == 0 { #expect(asked == nil) }
            if fault == "close", count > 0 { #expect(asked == "bytes=\(count)-") }
            #expect(try names() == ["target"])
        }
    }

    @Test func `Several breaks, refusals and a changed file still come to a whole file`() async throws {
        let faults = try await Fixtures.faults
        let place = faults.place("503", "close@300000", "429/0", "close@300000", "other", "close@1000")
        var request = CurlRequest(url: place.file())
        request.retry = .quick(10)
        let reports = Reports()
        let file = try await client.download(request, toFile: target) { reports.add($0) }
        #expect(try difference(contents(), faults.other) == nil)
        #expect(file.byteCount == Int64(faults.other.count))
        #expect(try await place.requests().map { $0.range != nil } == [false, false, true, true, true])
        for (before, after) in zip(reports.all, reports.all.dropFirst())
        where after.completedBytes < before.completedBytes {
            #expect(after.attempt > before.attempt)
        }
    }

    // MARK: Checks

    @Test func `A file with the right checksum and length is taken`() async throws {
        let faults = try await Fixtures.faults
        var options = FileDownloadOptions()
        options.sha256 = try ChildProcess.sha256(ofFile: directory.file("copy", faults.content)).uppercased()
        options.length = Int64(faults.content.count)
        options.synchronizes = true
        var request = CurlRequest(url: faults.place("close@300000", "reset@600000").file())
        request.retry = .quick(5)
        let file = try await client.download(request, toFile: target, options: options)
        #expect(file.response.attempts == 3)
        #expect(try difference(contents(), faults.content) == nil)
    }

    @Test func `The checksum counts what an earlier download left behind`() async throws {
        let faults = try await Fixtures.faults
        var options = FileDownloadOptions()
        options.sha256 = try ChildProcess.sha256(ofFile: directory.file("copy", faults.content))
        for isRight in [true, false] {
            let place = faults.place("close@600000")
            let request = CurlRequest(url: place.file())
            #expect(await failure { try await client.download(request, toFile: target).response } != nil)
            if !isRight { try directory.overwrite("target.sluice-part", at: 1000, [0, 0, 0, 0]) }
            let error = await failure { try await client.download(request, toFile: target, options: options).response }
            #expect(error?.code == (isRight ? nil : .contentMismatch))
            #expect(try await place.requests().last?.range == "bytes=600000-")
        }
    }

    @Test func `A CRC-32 is checked, over what an earlier download left behind, too`() async throws {
        let faults = try await Fixtures.faults
        // By Python's zlib.
        let script = "import sys, zlib; print(zlib.crc32(open(sys.argv[1], 'rb').read()))"
        let copy = try directory.file("copy", faults.content)
        var options = FileDownloadOptions()
        options.crc32 = UInt32(try ChildProcess.firstLine(of: "python3", "-c", script, copy))
        try #require(options.crc32 != nil)
        for isRight in [true, false] {
            let request = CurlRequest(url: faults.place("close@600000").file())
            #expect(await failure { try await client.download(request, toFile: target).response } != nil)
            if !isRight { options.crc32 = 5 }
            let error = await failure { try await client.download(request, toFile: target, options: options).response }
            #expect(error?.code == (isRight ? nil : .contentMismatch))
        }
        #expect(try names() == ["copy", "target"])
    }

    @Test func `A file with another checksum or length is thrown away`() async throws {
        let faults = try await Fixtures.faults
        try directory.file("target", [1, 2, 3])
        var sha = FileDownloadOptions()
        // Of nothing.
        sha.sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        var length = FileDownloadOptions()
        length.length = 5
        for (options, query) in [(sha, ""), (length, ""), (length, "length=no")] {
            let error = await failure {
                let request = CurlRequest(url: faults.place(query: query).file())
                return try await client.download(request, toFile: target, options: options).response
            }
            #expect(error?.code == .contentMismatch)
            #expect(error?.description.contains(options.sha256 ?? "5") == true)
            #expect(try contents() == [1, 2, 3])
            #expect(try names() == ["target"])
        }
    }

    @Test func `A server that sends more than the file should have is stopped at once`() async throws {
        try directory.file("target", [1, 2, 3])
        let url = try await Fixtures.faults.place("stall@500000", query: "length=no").file()
        var options = FileDownloadOptions()
        options.length = 400_000
        var request = CurlRequest(url: url)
        // Neither would the answer end by itself.
        request.idleTimeout = nil
        let error = await failure {
            try await client.download(request, toFile: target, options: options).response
        }
        #expect(error?.code == .contentMismatch)
        #expect(error?.description.contains("400000") == true)
        #expect(try contents() == [1, 2, 3])
        #expect(try names() == ["target"])
    }

    @Test(arguments: ["", "abc", "zz"])
    func `Options that make no sense are refused`(digits: String) async throws {
        var options = FileDownloadOptions()
        options.sha256 = digits == "zz" ? String(repeating: "zz", count: 32) : digits
        let request = CurlRequest(url: "http://127.0.0.1:1/")
        let error = await failure { try await client.download(request, toFile: target, options: options).response }
        #expect(error?.code == .invalidRequest)
    }
}
