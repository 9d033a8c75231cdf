import Sluice
import SluiceTestSupport
import Testing

/// How often, and from where, a body can be read: what its weakest source can.
@Suite(.timeLimit(.minutes(5))) struct ReplayTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try directory.file("f", [1, 2, 3])
    }

    /// A part of each kind, and its replay.
    static let kinds: [(name: String, replay: Replay)] = [
        ("text", .seekable), ("bytes", .seekable), ("file", .seekable), ("descriptor", .seekable),
        ("empty form", .seekable),
        ("once", .once), ("restartable", .restartable), ("sequence", .once), ("sequences", .restartable),
        ("FIFO", .once),
        ("/proc", .restartable), ("/dev/null", .once),
    ]

    private func part(_ kind: String) throws -> Part {
        let path = "\(directory.path)/f"
        switch kind {
        case "text": return .field("n", "v")
        case "bytes": return .file("n", bytes: [1], filename: "f")
        case "file": return .file("n", path: path)
        case "descriptor":
            return .file("n", FileSource(descriptor: try Files.descriptor(of: path), ownership: .owned))
        case "empty form": return .form("n", MultipartForm(subtype: .mixed))
        case "once": return .file("n", GeneratorSource.once(generator(of: [1])), filename: "f")
        case "restartable": return .file("n", GeneratorSource.restartable { generator(of: [1]) }, filename: "f")
        case "sequence": return .file("n", AsyncSource(stream(of: [[1]])), filename: "f")
        case "sequences": return .file("n", AsyncSource.restartable { stream(of: [[1]]) }, filename: "f")
        case "FIFO":
            try? Files.makeFIFO("\(directory.path)/fifo")
            return .file("n", path: "\(directory.path)/fifo")
        case "/proc": return .file("n", path: "/proc/version")
        default: return .file("n", path: kind)
        }
    }

    @Test(arguments: kinds)
    func `A body of one part can be read as its source can`(kind: String, replay: Replay) throws {
        var form = MultipartForm()
        try form.append(part(kind))
        #expect(try form.body().replay == replay)
    }

    @Test(arguments: kinds)
    func `A body of two parts can be read as the weaker one can, nested or not`(kind: String, replay: Replay) throws {
        for (other, otherReplay) in Self.kinds {
            var inner = MultipartForm(subtype: .mixed)
            try inner.append(part(other))
            var form = MultipartForm()
            try form.append(part(kind))
            try form.append(.form("inner", inner))
            #expect(try form.body().replay == min(replay, otherReplay), "\(other)")
        }
    }

    @Test func `An empty form can be read from anywhere`() throws {
        #expect(try MultipartForm().body().replay == .seekable)
    }

    @Test func `The kinds of replay are in order and have names`() {
        #expect(Replay.once < .restartable && .restartable < .seekable)
        #expect([Replay.once, .restartable, .seekable].map(\.description) == ["once", "restartable", "seekable"])
    }

    @Test(arguments: kinds.filter { $0.replay > .once && $0.name != "/proc" })
    func `What can be read again gives the same bytes each time, from any start`(
        kind: String,
        replay: Replay
    ) async throws {
        var form = MultipartForm()
        try form.append(part(kind))
        let body = try form.body()
        try await onThread {
            let whole = try body.bytes()
            #expect(!whole.isEmpty)
            for offset in 0...whole.count {
                #expect(try body.bytes(from: Int64(offset), bufferSize: 3) == Array(whole[offset...]))
            }
        }
    }

    @Test(arguments: ["once", "sequence", "FIFO", "/dev/null"])
    func `What can be read once is refused a second reading, but not what lies before it`(kind: String) async throws {
        var form = MultipartForm()
        try form.addField(name: "first", value: "v")
        try form.append(part(kind))
        let body = try form.body()
        try await onThread {
            let opener = kind == "FIFO" ? try Files.descriptor(of: "\(directory.path)/fifo", 2) : nil
            let reader = try body.makeReader()
            var head: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 1000)
            head.append(
                contentsOf: try unsafe buffer.withUnsafeMutableBytes { bytes in
                    let count = unsafe try reader.read(into: bytes)
                    return unsafe Array(bytes[..<count])
                }
            )
            #expect(String(decoding: head, as: UTF8.self).hasSuffix("\r\n\r\n"))
            // A first reading is under way or over.
            if let opener {
                try writeAll([1], to: opener)
                _ = try unsafe buffer.withUnsafeMutableBytes { unsafe try reader.read(into: $0) }
                Files.close(opener)
            }
            _ = try reader.rest(bufferSize: 100)
            let second = try body.makeReader()
            #expect(try unsafe buffer.withUnsafeMutableBytes { unsafe try second.read(into: $0) } == head.count)
            let error = try #require(failure(of: { try second.rest(bufferSize: 100) }))
            #expect(error.code == .notReplayable && error.part?.name == "n")
        }
    }

    @Test func `A reader that starts behind a source of one reading leaves that unread`() throws {
        var form = MultipartForm(subtype: .mixed, boundary: try Boundary("b"))
        let once = GeneratorSource.once(knownLength: 3, generator(of: [1, 2, 3]))
        try form.append(Part(disposition: nil, mediaType: nil, source: once))
        let body = try form.body()
        let end = try #require(body.contentRanges[0]).upperBound
        for _ in 0..<2 { #expect(try body.bytes(from: end) == OnePart.tail) }
        #expect(try body.bytes(from: end - 1) == [3] + OnePart.tail)
        #expect(throwing(.notReplayable) { try body.bytes(from: end - 1) })
    }
}
