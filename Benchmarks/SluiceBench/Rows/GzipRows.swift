internal import CZlib
import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Compression against zlib itself and against the programs that people use for it.
enum GzipRows {
    static var all: [Row] { [oneWorker, twoWorkers, pigz, incompressible, size, pigzSize, memory] }

    private static let level = Gzip.defaultLevel

    private static var oneWorker: Row {
        Row(
            name: "gzip-one-worker",
            summary: "gzip part of a text file, one worker; limit: a bare zlib loop at the same level",
            mark: .speedAtLeast(0.97)
        ) { fixture, _ in
            let path = try fixture.textFile()
            let body = try body(path, workers: 1)
            let buffer = Libc.Buffer(ReaderRows.bufferSize)
            let input = Libc.Buffer(Gzip.defaultBlockSize)
            return .paired(
                bytes: fixture.textSize,
                sluice: { try ReaderRows.drain(body, buffer) },
                limits: [("zlib", { try deflateLoop(path, input, buffer) })]
            )
        }
    }

    private static var twoWorkers: Row {
        Row(
            name: "gzip-two-workers",
            summary: "the same with two workers; limit: one worker, which is to be left behind on two idle cores",
            mark: .speedAtLeast(1.85)
        ) { fixture, _ in
            let path = try fixture.textFile()
            let one = try body(path, workers: 1)
            let two = try body(path, workers: 2)
            let buffer = Libc.Buffer(ReaderRows.bufferSize)
            return .paired(
                bytes: fixture.textSize,
                sluice: { try ReaderRows.drain(two, buffer) },
                limits: [("one worker", { try ReaderRows.drain(one, buffer) })]
            )
        }
    }

    private static var pigz: Row {
        Row(
            name: "gzip-pigz",
            summary:
                "`sluice encode` of a gzip part with two workers as a process; limit: `pigz -p2` at the same level",
            mark: .timeAtMost(1)
        ) { fixture, _ in
            let tool = try Child.besideThis("sluice")
            guard unsafe access(tool, X_OK) == 0 else { return .absent("build the product sluice first") }
            guard let pigz = Child.onPath("pigz") else { return .absent("pigz is not installed") }
            let path = try fixture.textFile()
            let arguments = ["encode", "-F", "file=@\(path);gzip=\(level)", "--gzip-workers", "2"]
            return .paired(
                bytes: fixture.textSize,
                sluice: { try Child(tool, arguments, output: "/dev/null").wait() },
                limits: [
                    ("pigz -p2", { try Child(pigz, ["-p2", "-\(level)", "-c", path], output: "/dev/null").wait() })
                ]
            )
        }
    }

    private static var incompressible: Row {
        Row(
            name: "gzip-random",
            summary: "gzip part of random bytes, one worker; limit: deflating them, which is to be left far behind",
            mark: .speedAtLeast(10)
        ) { fixture, options in
            // Deflated at 60 MiB/s: a sixteenth of the file is enough.
            let size = max(options.size / 16, 1 << 20)
            let path = try fixture.largeFile()
            let body = try MultipartForm {
                Part.file("file", FileSource(path: path, range: 0..<size)).gzip(level: level, workers: 1)
            }.body()
            let buffer = Libc.Buffer(ReaderRows.bufferSize)
            let input = Libc.Buffer(Gzip.defaultBlockSize)
            return .paired(
                bytes: size,
                sluice: { try ReaderRows.drain(body, buffer) },
                limits: [("zlib", { try deflateLoop(path, upTo: size, input, buffer) })]
            )
        }
    }

    private static var size: Row {
        Row(
            name: "gzip-size",
            summary: "bytes of a compressed text file, as a multiple of what gzip(1) makes of it at the same level",
            mark: .valueAtMost(1.01, "x")
        ) { fixture, _ in
            guard let gzip = Child.onPath("gzip") else { return .absent("gzip is not installed") }
            return try compareSize(fixture, "gzip -\(level)", gzip, ["-\(level)", "-n", "-c"])
        }
    }

    private static var pigzSize: Row {
        Row(
            name: "gzip-size-pigz",
            summary: "the same, as a multiple of what pigz makes of it, which cuts it into blocks as well",
            mark: .valueAtMost(1.001, "x")
        ) { fixture, _ in
            guard let pigz = Child.onPath("pigz") else { return .absent("pigz is not installed") }
            return try compareSize(fixture, "pigz -\(level)", pigz, ["-p2", "-\(level)", "-n", "-c"])
        }
    }

    private static var memory: Row {
        Row(
            name: "rss-gzip-upload",
            summary: "peak memory of `sluice upload` with 20 GiB, compressed by two workers",
            mark: .valueAtMost(32, "MiB")
        ) { fixture, options in
            let tool = try Child.besideThis("sluice")
            guard unsafe access(tool, X_OK) == 0 else { return .absent("build the product sluice first") }
            let sink = try Sink()
            // Noise has its blocks stored, zeros have theirs deflated: both ways take their memory.
            let small = try peak(of: tool, fixture.largeFile(), to: sink)
            let gibibytes: Int64 = options.isQuick ? 2 : 20
            let large = try peak(of: tool, fixture.sparseFile(gibibytes << 30), to: sink)
            return .value(
                max(large, small),
                details: "\(format(large)) MiB for \(gibibytes) GiB of zeros, \(format(small)) MiB for noise"
            )
        }
    }

    // MARK: What is measured

    private static func body(_ path: String, workers: Gzip.Workers) throws -> MultipartBody {
        try MultipartForm { Part.file("file", path: path).gzip(level: level, workers: workers) }.body()
    }

    private static func peak(of tool: String, _ path: String, to sink: Sink) throws -> Double {
        let arguments = MemoryRows.upload("\(path);gzip", to: sink) + ["--gzip-workers", "2"]
        return try MemoryRows.peak(of: tool, arguments)
    }

    /// What everybody writes who compresses a file with zlib.
    private static func deflateLoop(
        _ path: String,
        upTo limit: Int64 = .max,
        _ input: Libc.Buffer,
        _ output: Libc.Buffer
    ) throws {
        let descriptor = try Libc.openForReading(path)
        defer { close(descriptor) }
        var stream = unsafe z_stream()
        // 31: with gzip's header and checksum.
        guard unsafe sluice_deflate_init(&stream, Int32(level), 31) == Z_OK else {
            throw Libc.Failure(call: "deflateInit2", code: ENOMEM)
        }
        defer { unsafe deflateEnd(&stream) }
        var offset: Int64 = 0
        var status = Z_OK
        while status != Z_STREAM_END {
            let wanted = unsafe Int(min(Int64(input.bytes.count), limit - offset))
            let count = try Libc.check(
                "pread",
                unsafe pread(descriptor, input.bytes.baseAddress, wanted, off_t(offset))
            )
            offset += Int64(count)
            unsafe stream.next_in = input.bytes.baseAddress?.assumingMemoryBound(to: Bytef.self)
            unsafe stream.avail_in = uInt(count)
            repeat {
                unsafe stream.next_out = output.bytes.baseAddress?.assumingMemoryBound(to: Bytef.self)
                unsafe stream.avail_out = uInt(output.bytes.count)
                unsafe status = deflate(&stream, count == 0 ? Z_FINISH : Z_NO_FLUSH)
            } while unsafe stream.avail_out == 0
        }
    }

    private static func compareSize(
        _ fixture: Fixture,
        _ name: String,
        _ program: String,
        _ arguments: [String]
    ) throws -> Row.Measurement {
        let path = try fixture.textFile()
        let target = fixture.directory + "/compressed"
        let descriptor = try Libc.create(target)
        defer {
            close(descriptor)
            unsafe unlink(target)
        }
        try Child(program, arguments + [path], output: descriptor).wait()
        let theirs = Double(try Libc.check("lseek", lseek(descriptor, 0, SEEK_END)))
        let reader = try body(path, workers: 1).makeReader()
        let buffer = Libc.Buffer(ReaderRows.bufferSize)
        var ours = 0.0
        while case let count = unsafe try reader.read(into: buffer.bytes), count > 0 { ours += Double(count) }
        return .value(ours / theirs, details: "\(format(ours / 1024)) KiB; \(name) \(format(theirs / 1024)) KiB")
    }
}
