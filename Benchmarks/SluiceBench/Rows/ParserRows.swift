internal import CSluiceBench
import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The parser against `memcpy` of the same chunks, against numbers, and against other languages' parsers.
enum ParserRows {
    private static let boundaryText = "------------------------WqclBHaXe8KIsoSum4zfZ6"
    private static let parts = 200_000

    static var all: [Row] {
        [
            scan("parser-random-16k", "random bytes", chunk: 16 << 10, .random),
            scan("parser-random-64k", "random bytes", chunk: 64 << 10, .random),
            scan(
                "parser-text-16k",
                "text with CR LF behind every 3 bytes",
                chunk: 16 << 10,
                .pattern(Array("abc\r\n".utf8))
            ),
            scan(
                "parser-text-64k",
                "text with CR LF behind every 3 bytes",
                chunk: 64 << 10,
                .pattern(Array("abc\r\n".utf8))
            ),
            hostile, smallParts, allocations,
        ]
    }

    /// A body of one part.
    enum Content {
        case random
        case pattern([UInt8])
    }

    private static func scan(_ name: String, _ what: String, chunk: Int, _ content: Content) -> Row {
        Row(
            name: name,
            summary: "MultipartParser over one part of \(what) in chunks of \(chunk >> 10) KiB; limit: memcpy of them",
            mark: .speedAtLeast(1)
        ) { _, options in
            let body = try body(content, Int(options.size))
            let target = Libc.Buffer(chunk)
            return .paired(
                bytes: Int64(body.bytes.count),
                sluice: { try parse(body, chunk) },
                limits: [("memcpy", { copy(body, chunk, target) })]
            )
        }
    }

    /// The slowest of the bodies that are made to cost time.
    private static var hostile: Row {
        Row(
            name: "parser-hostile",
            summary: "the slowest of several bodies that are made of near misses, in chunks of 64 KiB",
            mark: .valueAtLeast(2.5, "GB/s")
        ) { _, options in
            let delimiter = Array("\r\n--\(boundaryText)".utf8)
            let last = Array(delimiter.suffix(1))
            var patterns = [
                [0x0D], [0x0D, 0x0A], [0x0D] + last, Array("\r\n--".utf8) + last, Array(delimiter.dropLast()),
            ]
            patterns += [8, 9, 10, 12, 16, 17, 27].map { Array(delimiter.prefix($0)) + last }
            patterns.append(delimiter.enumerated().map { $0.offset == 30 ? 0x21 : $0.element })
            var slowest = Double.infinity
            var name = ""
            for pattern in patterns {
                let body = try body(.pattern(pattern), Int(min(options.size, 256 << 20)))
                var best = Double.infinity
                for _ in 0...options.rounds {
                    let start = Libc.seconds()
                    try parse(body, 64 << 10)
                    best = min(best, Libc.seconds() - start)
                }
                let speed = Double(body.bytes.count) / best / 1e9
                if speed < slowest { (slowest, name) = (speed, "\(pattern.count) bytes long") }
            }
            return .value(slowest, details: "the best of \(options.rounds + 1) rounds, of a pattern \(name)")
        }
    }

    private static var smallParts: Row {
        Row(
            name: "parser-small-parts",
            summary: "form fields of 5 bytes, in chunks of 64 KiB",
            mark: .valueAtLeast(2, "million/s")
        ) { _, options in
            let body = try manyParts()
            var best = Double.infinity
            for _ in 0...options.rounds {
                let start = Libc.seconds()
                try parse(body, 64 << 10, parts: parts)
                best = min(best, Libc.seconds() - start)
            }
            return .value(Double(parts) / best / 1e6, details: "the best of \(options.rounds + 1) rounds")
        }
    }

    private static var allocations: Row {
        Row(
            name: "allocations-parser",
            summary: "allocations for each chunk of content",
            mark: .valueAtMost(0, "")
        ) { _, _ in
            // What the headers take is the same for both.
            let few = try allocations(chunks: 10)
            let many = try allocations(chunks: 10_010)
            guard few >= 0 else { return .absent("allocations can be counted with glibc only") }
            return .value(Double(many - few) / 10_000, details: "\(many - few) in 10,000 chunks")
        }
    }

    private static func allocations(chunks: Int) throws -> Int64 {
        let body = try body(.pattern(Array("\r\n--".utf8)), chunks * 1000)
        let before = sluice_allocation_count()
        try parse(body, 1000)
        return before < 0 ? -1 : sluice_allocation_count() - before
    }

    // MARK: Bodies

    /// A body in memory, and what it is.
    struct Body {
        let bytes: ContiguousArray<UInt8>
        let type: MultipartContentType
    }

    static func body(_ content: Content, _ count: Int) throws -> Body {
        let boundary = try Boundary(boundaryText)
        let disposition = "Content-Disposition: form-data; name=\"file\"; filename=\"file.bin\""
        let head = Array("--\(boundary)\r\n\(disposition)\r\nContent-Type: application/octet-stream\r\n\r\n".utf8)
        let tail = Array("\r\n--\(boundary)--\r\n".utf8)
        var bytes = ContiguousArray<UInt8>()
        bytes.reserveCapacity(head.count + count + tail.count)
        bytes += head
        switch content {
        case .pattern(let pattern):
            // A longer piece of it, because one append a byte takes a second a gigabyte.
            let piece = (0..<(1 << 16) / pattern.count).flatMap { _ in pattern }
            while bytes.count < head.count + count { bytes += piece.prefix(head.count + count - bytes.count) }
        case .random:
            var state: UInt64 = 88_172_645_463_325_252
            for _ in 0..<count / 8 {
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                unsafe withUnsafeBytes(of: state) { unsafe bytes.append(contentsOf: $0) }
            }
        }
        return Body(bytes: bytes + tail, type: MultipartContentType(boundary: boundary))
    }

    static func manyParts() throws -> Body {
        let boundary = try Boundary(boundaryText)
        let part = Array("--\(boundary)\r\nContent-Disposition: form-data; name=\"field1\"\r\n\r\nvalue\r\n".utf8)
        var bytes = ContiguousArray<UInt8>()
        for _ in 0..<parts { bytes += part }
        return Body(bytes: bytes + "--\(boundary)--\r\n".utf8, type: MultipartContentType(boundary: boundary))
    }

    // MARK: Work

    static func parse(_ body: Body, _ chunk: Int, parts expected: Int = 1) throws {
        var limits = ParserLimits(fileBytes: .max, totalBytes: .max)
        limits.partCount = .max
        limits.totalHeaderBytes = .max
        limits.totalFieldBytes = .max
        var parser = MultipartParser(body.type, limits: limits)
        var parts = 0
        try unsafe body.bytes.withUnsafeBytes { bytes in
            var start = 0
            while start < bytes.count {
                let end = min(start + chunk, bytes.count)
                let piece = unsafe UnsafeRawBufferPointer(rebasing: bytes[start..<end])
                while let event = try parser.next(in: unsafe piece.bytes) {
                    if case .partEnded = event { parts += 1 }
                }
                start = end
            }
        }
        while let _ = try parser.finish() {}
        guard parts == expected else { throw Problem(description: "\(parts) parts were found, not \(expected)") }
    }

    private static func copy(_ body: Body, _ chunk: Int, _ target: Libc.Buffer) {
        unsafe body.bytes.withUnsafeBytes { bytes in
            var start = 0
            while start < bytes.count {
                let end = min(start + chunk, bytes.count)
                unsafe target.bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
                start = end
            }
        }
    }

    struct Problem: Error, CustomStringConvertible {
        let description: String
    }
}
