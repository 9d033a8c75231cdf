import Foundation
import Sluice
import SluiceFoundation
import SluiceTestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// `URLSession.download` and `collect`: whole files or none, and no error's page among them.
@Suite(.timeLimit(.minutes(5))) struct SessionDownloadTests {
    private let scratch: TemporaryDirectory
    private let session = URLSession(configuration: .ephemeral)

    init() throws {
        scratch = try TemporaryDirectory()
    }

    @Test("A file is there, whole, when `completed` comes", arguments: ["bytes", "chunked", "unframed", "gzip"])
    func completes(framing: String) async throws {
        let server = try await SessionServer(in: scratch)
        let (directory, file) = try place()
        var progress: [TransferProgress] = []
        var isWhole = false
        for try await event in session.download(for: try server.request("/\(framing)/3000000"), to: file) {
            switch event {
            case .progress(let report): progress.append(report)
            case .completed(let url):
                #expect(url == file)
                isWhole = try Data(contentsOf: url) == Data(pattern(3_000_000))
            case .failed(let error): Issue.record(error)
            }
        }
        #expect(isWhole)
        #expect(try contents(of: directory) == ["film.mkv"])
        #expect(zip(progress, progress.dropFirst()).allSatisfy { $0.completedBytes <= $1.completedBytes })
        if framing == "bytes" { #expect(progress.allSatisfy { $0.totalBytes == 3_000_000 }) }
    }

    @Test("300 MiB come whole, in few reports")
    func large() async throws {
        let server = try await ServerProcess.started("upload_server.py")
        let (_, file) = try place()
        let size = 300 << 20
        let request = URLRequest(url: try server.endpoint("/big-response?bytes=\(size)"))
        let outcome = await events(of: session.download(for: request, to: file))
        #expect(outcome.completed == file)
        #expect(outcome.progress.count < 1000, "not one for each of 19,200 chunks")
        #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int == size)
        let block = Data((0..<1 << 20).map { UInt8(truncatingIfNeeded: $0) })
        let handle = try FileHandle(forReadingFrom: file)
        for _ in 0..<300 { #expect(try handle.read(upToCount: 1 << 20) == block) }
    }

    @Test("The old file is whole until the new one is, and has the same permissions")
    func replaces() async throws {
        let server = try await SessionServer(in: scratch)
        let (directory, file) = try place()
        try Data("old".utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        let stream = session.download(for: try server.request("/drip/20/0.05"), to: file)
        #expect(await eventually { (try? contents(of: directory).count) == 2 })
        #expect(try Data(contentsOf: file) == Data("old".utf8))
        #expect(await events(of: stream).completed == file)
        #expect(try Data(contentsOf: file) == Data(repeating: 0x78, count: 20))
        #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)
        #expect(try contents(of: directory) == ["film.mkv"])
    }

    @Test("A symbolic link stays one, and what it points to is replaced")
    func symbolicLink() async throws {
        let server = try await SessionServer(in: scratch)
        let (directory, file) = try place()
        let link = directory.appendingPathComponent("link")
        try Data("old".utf8).write(to: file)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        #expect(await events(of: session.download(for: try server.request("/bytes/10"), to: link)).completed == link)
        #expect(try Data(contentsOf: file) == Data(pattern(10)))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == file.path)
    }

    @Test("A response cut short is no file: the error says so, as an event and thrown, and the old file stays")
    func truncated() async throws {
        let server = try await SessionServer(in: scratch)
        for path in ["/cut/3000000/1000000", "/cut/3000000/0", "/chunked-cut/3000000/1000000"] {
            let (directory, file) = try place()
            try Data("old".utf8).write(to: file)
            let outcome = await events(of: session.download(for: try server.request(path), to: file))
            #expect(outcome.completed == nil)
            #expect([.truncated, .connectionLost].contains(outcome.failed?.code), "\(path) \(outcome)")
            #expect(outcome.thrown?.code == outcome.failed?.code)
            #expect(try Data(contentsOf: file) == Data("old".utf8))
            #expect(try contents(of: directory) == ["film.mkv"])
        }
    }

    @Test(
        "No status but 200 to 299 is saved, and its page is in the error",
        arguments: [404, 500, 401, 304, 307]
    )
    func status(status: Int) async throws {
        let server = try await SessionServer(in: scratch)
        let (directory, file) = try place()
        // `URLSession` on Linux forgets the body of a redirect that leads nowhere.
        let page = status < 400 ? "" : "sorry"
        let request = try server.request("/status/\(status)?body=\(page)")
        let outcome = await events(of: session.download(for: request, to: file))
        #expect(outcome.failed?.code == .unexpectedStatus)
        #expect(outcome.failed?.response?.status == status)
        #expect(outcome.failed?.response?.body == Data(page.utf8))
        #expect(try contents(of: directory) == [])
    }

    @Test("A challenge that nothing answers ends the download at once")
    func challenge() async throws {
        let server = try await SessionServer(in: scratch)
        let (directory, file) = try place()
        let outcome = await events(of: session.download(for: try server.request("/basic"), to: file))
        #expect(outcome.failed?.response?.status == 401)
        #expect(try contents(of: directory) == [])
    }

    @Test("Redirects are followed")
    func redirect() async throws {
        let server = try await SessionServer(in: scratch)
        for status in [301, 302, 303, 307, 308] {
            let (_, file) = try place()
            let request = try server.request("/status/\(status)?Location=/bytes/10&body=elsewhere")
            #expect(await events(of: session.download(for: request, to: file)).completed == file)
            #expect(try Data(contentsOf: file) == Data(pattern(10)))
        }
    }

    @Test("A place where no file can be is an error before anything is asked for")
    func badPlace() async throws {
        let server = try await SessionServer(in: scratch)
        let (directory, file) = try place()
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        let places = [
            file, directory.appendingPathComponent("missing/film.mkv"), URL(fileURLWithPath: "/dev/null/film.mkv"),
            try #require(URL(string: "http://127.0.0.1/film.mkv")),
        ]
        for place in places {
            let outcome = await events(of: session.download(for: try server.request("/bytes/10"), to: place))
            #expect(outcome.failed?.code == .fileFailed, "\(place)")
        }
        #expect(server.requestCount == 0)
    }

    @Test(
        "What is no file that may be replaced is an error before anything is asked for, and stays",
        arguments: ["fifo", "link to nothing", "link to a fifo", "new directory/"]
    )
    func notReplaced(what: String) async throws {
        let server = try await SessionServer(in: scratch)
        let (directory, _) = try place()
        try Files.makeFIFO("\(directory.path)/fifo")
        try Files.makeLink("\(directory.path)/link to nothing", to: "nothing")
        try Files.makeLink("\(directory.path)/link to a fifo", to: "fifo")
        let place = directory.appendingPathComponent(what, isDirectory: what.hasSuffix("/"))
        let outcome = await events(of: session.download(for: try server.request("/bytes/10"), to: place))
        #expect(outcome.failed?.code == .fileFailed)
        #expect(server.requestCount == 0)
        #expect(try contents(of: directory).sorted() == ["fifo", "link to a fifo", "link to nothing"])
    }

    @Test("A file that may not be written is not replaced")
    func readOnly() async throws {
        let server = try await SessionServer(in: scratch)
        let (directory, file) = try place()
        try Data("old".utf8).write(to: file)
        try Files.setMode(file.path, 0o444)
        try Files.setMode(directory.path, 0o777)
        try Files.setMode(scratch.path, 0o755)
        await #expect(processExitsWith: .success) {
            [url = server.process.url("/bytes/10") as String, path = file.path as String] in
            // Nothing is forbidden to root.
            if geteuid() == 0 { #expect(setgid(65534) == 0 && setuid(65534) == 0) }
            let request = URLRequest(url: try #require(URL(string: url)))
            let outcome = await events(
                of: URLSession(configuration: .ephemeral).download(for: request, to: URL(fileURLWithPath: path))
            )
            #expect(outcome.failed?.code == .fileFailed, "\(outcome)")
        }
        #expect(try Data(contentsOf: file) == Data("old".utf8))
        #expect(server.requestCount == 0)
    }

    @Test("What comes is its owner's only until it is in its place, and then for whom the old file was")
    func permissions() async throws {
        let server = try await SessionServer(in: scratch)
        let (directory, file) = try place()
        try Data("old".utf8).write(to: file)
        try Files.setMode(file.path, 0o664)
        let link = directory.appendingPathComponent("link")
        try Files.makeLink(link.path, to: "film.mkv")
        func temporary() throws -> String? { try contents(of: directory).first { $0.hasPrefix(".sluice-") } }
        do {
            let stream = session.download(for: try server.request("/drip/1000/0.05"), to: link)
            #expect(await eventually { (try? temporary()) != nil })
            let name = try #require(try temporary())
            #expect(try Files.mode("\(directory.path)/\(name)") == 0o600)
            withExtendedLifetime(stream) {}
        }
        #expect(await eventually { (try? contents(of: directory).count) == 2 })
        #expect(await events(of: session.download(for: try server.request("/bytes/20"), to: link)).completed == link)
        #expect(try Files.mode(file.path) == 0o664)
        #expect(try Data(contentsOf: link).count == 20)
        #expect(try contents(of: directory).sorted() == ["film.mkv", "link"])
    }

    #if os(Linux)
    @Test("A disk that is full is an error, and nothing is left")
    func fullDisk() async throws {
        // The kernel's limit for a file stands for a full disk; SIGXFSZ is ignored, as it is for any server.
        let server = try await SessionServer(in: scratch)
        let (directory, file) = try place()
        await #expect(processExitsWith: .success) {
            [url = server.process.url("/bytes/3000000") as String, path = file.path as String] in
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 1_000_000, rlim_max: 1_000_000)
            #expect(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            let request = URLRequest(url: try #require(URL(string: url)))
            let outcome = await events(
                of: URLSession(configuration: .ephemeral).download(for: request, to: URL(fileURLWithPath: path))
            )
            #expect(outcome.failed?.code == .fileFailed)
        }
        #expect(try contents(of: directory) == [])
    }
    #endif

    // MARK: Ending it

    @Test("Cancelling the task that listens ends the transfer and removes what was written")
    func cancel() async throws {
        let server = try await SessionServer(in: scratch)
        let (directory, file) = try place()
        let request = try server.request("/drip/1000/0.05")
        let hasBegun = Flag()
        let listener = Task { [session] in
            for try await event in session.download(for: request, to: file) {
                if case .progress = event { hasBegun.set() }
            }
        }
        #expect(await eventually { hasBegun.isSet })
        listener.cancel()
        _ = await listener.result
        #expect(await eventually { (try? contents(of: directory)) == [] })
    }

    @Test("Leaving the loop ends the transfer, and so does never entering it", arguments: [true, false])
    func abandon(listens: Bool) async throws {
        let server = try await SessionServer(in: scratch)
        let (directory, file) = try place()
        do {
            let stream = session.download(for: try server.request("/drip/1000/0.05"), to: file)
            #expect(await eventually { (try? contents(of: directory).count) == 1 })
            if listens { for try await _ in stream { break } }
        }
        #expect(await eventually { (try? contents(of: directory)) == [] })
    }

    // MARK: Into memory

    @Test("What is collected is all of it, whatever the status", arguments: ["bytes", "chunked", "unframed"])
    func collects(framing: String) async throws {
        let server = try await SessionServer(in: scratch)
        let reports = Reports()
        let response = try await session.collect(
            server.request("/\(framing)/3000000"),
            upTo: 3_000_000,
            progress: reports.append
        )
        #expect(response.body == Data(pattern(3_000_000)))
        #expect(reports.all.last?.completedBytes == 3_000_000)
        #expect(reports.all.last?.isFinished == true)
        #expect(try await session.collect(server.request("/status/404?body=no"), upTo: 10).body == Data("no".utf8))
    }

    @Test("More than the limit is an error, at once where the length is known", arguments: ["bytes", "chunked"])
    func collectsTooMuch(framing: String) async throws {
        let server = try await SessionServer(in: scratch)
        let request = try server.request("/\(framing)/3000000")
        let error = await failure { [session] () async throws(SessionError) in
            try await session.collect(request, upTo: 2_999_999)
        }
        #expect(error?.code == .responseTooLarge)
    }

    @Test("A response cut short is not collected", arguments: ["/cut/1000/999", "/chunked-cut/1000/999"])
    func collectsTruncated(path: String) async throws {
        let server = try await SessionServer(in: scratch)
        let request = try server.request(path)
        let error = await failure { [session] () async throws(SessionError) in
            try await session.collect(request, upTo: 10_000)
        }
        #expect([.truncated, .connectionLost].contains(error?.code), "\(String(describing: error))")
    }

    private func place() throws -> (directory: URL, file: URL) {
        let directory = scratch.url.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        return (directory, directory.appendingPathComponent("film.mkv"))
    }

    private func contents(of directory: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path)
    }
}
