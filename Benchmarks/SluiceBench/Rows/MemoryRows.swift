import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Peak memory against the size of what is sent, each measured in a process of its own.
enum MemoryRows {
    static var all: [Row] {
        [
            Row(
                name: "rss-reader",
                summary: "peak memory of reading a sparse file of 100 GiB, less that of one of 1 GiB",
                mark: .valueAtMost(1, "MiB")
            ) { fixture, options in
                let small = try peak(reading: fixture.sparseFile(1 << 30))
                let large = try peak(reading: fixture.sparseFile(options.sparseSize))
                return .value(
                    (large - small).magnitude,
                    details: "\(format(large)) MiB for \(options.sparseSize >> 30) GiB, \(format(small)) MiB for 1 GiB"
                )
            },
            Row(
                name: "rss-tool-upload",
                summary: "peak memory of `sluice upload` with a sparse file, of 1 GiB and of 100 GiB",
                mark: .valueAtMost(20, "MiB")
            ) { fixture, options in
                let tool = try Child.besideThis("sluice")
                guard unsafe access(tool, X_OK) == 0 else { return .absent("build the product sluice first") }
                let sink = try Sink()
                let small = try peak(of: tool, upload(fixture.sparseFile(1 << 30), to: sink))
                let large = try peak(of: tool, upload(fixture.sparseFile(options.sparseSize), to: sink))
                return .value(
                    max(small, large),
                    details: "\(format(large)) MiB for \(options.sparseSize >> 30) GiB, \(format(small)) MiB for 1 GiB"
                )
            },
        ]
    }

    /// What runs in the child of the row `rss-reader`: `sluice-bench --read PATH`.
    static func read(_ path: String) throws {
        let body = try MultipartForm { Part.file("file", path: path) }.body()
        try ReaderRows.drain(body, Libc.Buffer(ReaderRows.bufferSize))
        // Until the parent has looked.
        sleep(1)
    }

    private static func peak(reading path: String) throws -> Double {
        try peak(of: "/proc/self/exe", ["--read", path])
    }

    static func upload(_ path: String, to sink: Sink) -> [String] {
        ["upload", sink.url, "-F", "file=@\(path)", "--progress", "none"]
    }

    /// The peak resident memory of a program in MiB.
    static func peak(of program: String, _ arguments: [String]) throws -> Double {
        let child = try Child(program, arguments, output: "/dev/null")
        // Not what wait4 says: to it, a child's memory begins with that of the program that started it.
        var peak = 0.0
        while !(try child.hasEnded()) {
            peak = max(peak, child.peakMebibytes ?? 0)
            usleep(2000)
        }
        return peak
    }
}
