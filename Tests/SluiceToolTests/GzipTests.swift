import SluiceTestSupport
import Testing

@testable import Sluice
@testable import SluiceTool

/// Compressed parts, as the command line asks for them.
@Suite(.timeLimit(.minutes(10))) struct GzipTests {
    private let directory: TemporaryDirectory
    private let file: String
    private let content = Array(repeating: Array("a line of a log\n".utf8), count: 20_000).flatMap(\.self)

    init() throws {
        directory = try TemporaryDirectory()
        file = try directory.file("log.txt", content)
    }

    // MARK: Grammar

    private func file(_ path: String, _ compression: FormSpec.Compression, type: String? = nil) -> FormSpec.File {
        .init(path: path, attributes: .init(type: type, compression: compression))
    }

    @Test(arguments: [
        ("f=@x;gzip", FormSpec.Compression()),
        ("f=@x;gzip=0", .init(level: 0)),
        ("f=@x;GZIP=9", .init(level: 9)),
        ("f=@x ; gzip = 1 ", .init(level: 1)),
        (#"f=@x;gzip="5""#, .init(level: 5)),
        ("f=@x;content-encoding=gzip", .init(isEncoding: true)),
        ("f=@x;Content-Encoding=GZIP", .init(isEncoding: true)),
        ("f=@x;content-encoding=gzip;gzip=3", .init(level: 3, isEncoding: true)),
        ("f=@x;gzip=3;content-encoding=gzip", .init(level: 3, isEncoding: true)),
    ])
    func `A file can be compressed`(argument: String, compression: FormSpec.Compression) throws {
        #expect(try FormSpec.parse(argument).spec == .files([file("x", compression)]))
    }

    @Test func `Each file of several is compressed by itself`() throws {
        let spec = try FormSpec.parse("f=@x;gzip,y;type=text/plain; charset=utf-8;gzip=2,z").spec
        #expect(
            spec
                == .files([
                    file("x", .init()), file("y", .init(level: 2), type: "text/plain; charset=utf-8"), .init(path: "z"),
                ])
        )
    }

    @Test func `Values, contents and groups can be, too`() throws {
        #expect(try FormSpec.parse("f=v;gzip").spec == .value("v", .init(compression: .init())))
        #expect(try FormSpec.parse("f=<x;gzip=1").spec == .content(of: "x", .init(compression: .init(level: 1))))
        #expect(
            try FormSpec.parse("f=(;content-encoding=gzip").spec == .begin(.init(compression: .init(isEncoding: true)))
        )
    }

    @Test(arguments: [
        ("f=@x;gzip=10", FormSpecError.invalidGzipLevel("10")), ("f=@x;gzip=", .invalidGzipLevel("")),
        ("f=@x;gzip=-1", .invalidGzipLevel("-1")), ("f=@x;gzip=a", .invalidGzipLevel("a")),
        ("f=@x;content-encoding=br", .unknownEncoding("br")), ("f=@x;content-encoding=", .unknownEncoding("")),
        ("f=@x;gzipped", .unknownAttribute("gzipped")), ("f=@x;gzip-9", .unknownAttribute("gzip-9")),
    ])
    func `Anything else is refused`(argument: String, error: FormSpecError) {
        #expect(throws: error) { try FormSpec.parse(argument) }
    }

    @Test(arguments: [
        ["--gzip-workers", "0"], ["--gzip-workers", "257"], ["--gzip-workers", "two"], ["--gzip-workers", "-1"],
        ["--gzip-workers", ""], ["--gzip-length", "exact"], ["--gzip-length", ""],
    ])
    func `So are options that say nothing`(options: [String]) async throws {
        let run = try await sluice(["encode", "-F", "f=v;gzip"] + options)
        #expect(run.status == 64)
        #expect(run.errors.contains(options[0]))
    }

    @Test func `A group cannot be a gzip file, and a header cannot be doubled`() async throws {
        let group = try await sluice("encode", "-F", "g=(;gzip", "-F", "a=b", "-F", "=)")
        #expect(group.status != 0 && group.errors.contains("nested form"))
        let doubled = try await sluice("encode", "-F", #"f=v;headers="Content-Encoding: br";content-encoding=gzip"#)
        #expect(doubled.status != 0 && doubled.errors.contains("Content-Encoding already"))
    }

    @Test(arguments: [39, 60, 3000])
    func `Groups in groups are compressed as deeply as groups may be`(depth: Int) async throws {
        let groups = (0..<depth).flatMap { _ in ["-F", "g=(;content-encoding=gzip"] }
        let run = try await sluice(["encode"] + groups + ["-F", "a=b"])
        #expect(run.status == (depth < 40 ? 0 : 65))
        if depth >= 40 { #expect(run.errors.contains("nested more than 40 deep")) }
    }

    // MARK: What comes out

    /// The content of the only part, decompressed.
    private func contents(of body: [UInt8]) async throws -> [UInt8]? {
        let start = try #require(
            body.indices.first { body[$0...].starts(with: [13, 10, 13, 10]) }
        )
        return try await Gunzip.decompress([Array(body[(start + 4)...].dropLast("\r\n--B--\r\n".utf8.count))])[0]
    }

    @Test(arguments: ["unknown", "measured", "spooled"], ["1", "2", "4"])
    func `A file is encoded compressed`(length: String, workers: String) async throws {
        let run = try await sluice(
            "encode",
            "--boundary",
            "B",
            "-F",
            "f=@\(file);gzip=9",
            "--gzip-length",
            length,
            "--gzip-workers",
            workers
        )
        #expect(run.status == 0 && run.errors == "")
        let head =
            "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"log.txt.gz\"\r\nContent-Type: application/gzip\r\n\r\n"
        #expect(run.output.starts(with: head.utf8))
        #expect(try await contents(of: run.output) == content)
        let printed = try await sluice(
            "encode",
            "--boundary",
            "B",
            "-F",
            "f=@\(file);gzip=9",
            "--gzip-length",
            length,
            "--print-length"
        )
        #expect(printed.text == (length == "unknown" ? "unknown\n" : "\(run.output.count)\n"))
    }

    @Test(arguments: ["unknown", "spooled"])
    func `Standard input is compressed`(length: String) async throws {
        let run = try await shell(
            #"cat "$1" | "$sluice" encode --boundary B -F 'f=@-;gzip;filename=x' --gzip-length "$2""#,
            file,
            length
        )
        #expect(run.status == 0)
        #expect(run.text.contains("filename=\"x.gz\""))
        #expect(try await contents(of: run.output) == content)
    }

    @Test func `What can be read once cannot be measured`() async throws {
        let run = try await shell(#"cat "$1" | "$sluice" encode -F 'f=@-;gzip' --gzip-length measured"#, file)
        #expect(run.status == 65 && run.output == [])
        #expect(run.errors.contains("only once"))
    }

    @Test func `With the header it keeps its name and type`() async throws {
        let run = try await sluice("encode", "--boundary", "B", "-F", "f=@\(file);content-encoding=gzip")
        #expect(
            run.text.hasPrefix(
                "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"log.txt\"\r\nContent-Type: text/plain\r\n"
                    + "Content-Encoding: gzip\r\n\r\n"
            )
        )
        #expect(try await contents(of: run.output) == content)
    }

    // MARK: Uploads

    @Test(arguments: ["unknown", "measured", "spooled"])
    func `An upload counts what is read, and says what is saved`(length: String) async throws {
        let big = try directory.sparseFile("big", size: 200 << 20)
        let run = try await sluice(
            "upload",
            try UploadServers.url("/discard"),
            "--progress",
            "json",
            "-f",
            "-F",
            "f=@\(big);gzip=1",
            "--gzip-length",
            length
        )
        #expect(run.status == 0)
        let reports = try run.errors.split(separator: "\n").map { try JSONValue(Array($0.utf8)) }
        let last = try #require(reports.last)
        let total = try #require(last["source"]["total"].number)
        #expect(total > Double(200 << 20) && total < Double(200 << 20) + 1000)
        #expect(last["source"]["completed"].number == total)
        #expect(last["completed"].number ?? .infinity < Double(2 << 20))
        #expect(last["finished"].number == 1 && last["fraction"].number == 1)
        let completed = reports.compactMap { $0["source"]["completed"].number }
        #expect(completed == completed.sorted())
        let plain = try await sluice("upload", try UploadServers.url("/discard"), "-F", "f=@\(big);gzip=1")
        #expect(plain.errors.contains("100%, 200 MiB of 200 MiB, compressed "))
    }

    @Test func `The bar shows the sources' bytes and the ratio`() {
        var progress = TransferProgress.sample(100 << 20, of: nil)
        progress.source = .init(completedBytes: 531 << 20, totalBytes: 1062 << 20, bytesPerSecond: Double(100 << 20))
        let line = ProgressBar.line(progress, columns: 120)
        #expect(line.hasPrefix(" 50%  [=") && line.contains("  531 MiB of 1.04 GiB  5.31:1   100 MiB/s  ETA    0:05"))
        // The ratio goes after the time, and before the bar.
        #expect(!ProgressBar.line(progress, columns: 60).contains("ETA"))
        #expect(ProgressBar.line(progress, columns: 60).contains("5.31:1"))
        #expect(!ProgressBar.line(progress, columns: 50).contains("5.31:1"))
        #expect(ProgressBar.line(progress, columns: 50).contains("["))
        #expect(
            ProgressLines.plain(progress)
                == "50%, 531 MiB of 1.04 GiB, compressed 5.31:1, 100 MiB/s, 0:05 left, part \"video\" (2 of 2)"
        )
    }

    @Test func `5 GiB are compressed in little memory, and their length is told modulo 4 GiB`() async throws {
        let big = try directory.sparseFile("big", size: 5 << 30)
        let output = "\(directory.path)/body"
        let encode = try ToolProcess(
            [
                ToolProcess.tool, "encode", "--boundary", "B", "-F", "f=@\(big);gzip=1", "--gzip-workers", "2", "-o",
                output,
            ]
        )
        let run = try await encode.outcome(within: 500)
        #expect(run.status == 0 && run.errors == "")
        #expect(run.peakMemory < 32 * 1024)
        // zlib itself compares the length; what comes out is counted and thrown away.
        let script = """
            import sys, zlib
            body = open(sys.argv[1], "rb")
            while body.readline() != b"\\r\\n": pass
            member, count, zeros = zlib.decompressobj(31), 0, bytes(1 << 20)
            while not member.eof:
                piece = member.decompress(member.unconsumed_tail or body.read(1 << 20), 1 << 20)
                assert piece == zeros[:len(piece)]
                count += len(piece)
            print(count, member.unused_data + body.read())
            """
        let check = try ToolProcess(["python3", "-c", script, output])
        #expect(try await check.outcome(within: 500).text == "\(5 << 30) b'\\r\\n--B--\\r\\n'\n")
    }
}
