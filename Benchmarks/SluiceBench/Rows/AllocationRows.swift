internal import CSluiceBench
import Sluice

/// Calls into the allocator, which are counted and so are the same in every run.
enum AllocationRows {
    static var all: [Row] {
        [
            Row(
                name: "allocations-memory-parts",
                summary: "allocations while 10,000 parts of 4 KiB in memory are read",
                mark: .valueAtMost(0, "")
            ) { _, _ in
                var form = MultipartForm()
                let bytes = [UInt8](repeating: 1, count: 4096)
                for index in 0..<10_000 { try form.append(.file("part\(index)", bytes: bytes, filename: "part.bin")) }
                return try count(form.body())
            },
            Row(
                name: "allocations-file",
                summary: "allocations while one large file is read: its cursor, its path, and none for each read",
                mark: .valueAtMost(4, "")
            ) { fixture, _ in
                let path = try fixture.largeFile()
                return try count(MultipartForm { Part.file("file", path: path) }.body())
            },
        ]
    }

    /// The least of several times, because threads of the runtime's own allocate now and then, too.
    private static func count(_ body: MultipartBody) throws -> Row.Measurement {
        let buffer = Libc.Buffer(ReaderRows.bufferSize)
        var least = Int64.max
        var reads = 0
        for _ in 0..<3 {
            let reader = try body.makeReader()
            let before = sluice_allocation_count()
            guard before >= 0 else { return .absent("allocations can be counted with glibc only") }
            reads = 0
            while unsafe try reader.read(into: buffer.bytes) > 0 { reads += 1 }
            least = min(least, sluice_allocation_count() - before)
        }
        return .value(Double(least), details: "in \(reads) reads")
    }
}
