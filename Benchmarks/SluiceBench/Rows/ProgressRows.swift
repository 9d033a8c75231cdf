import Sluice
internal import Synchronization

/// What progress reports cost.
enum ProgressRows {
    /// How often the file is read in a round: one time scatters by more than the hundredth that is asked about.
    private static let times = 4

    static var all: [Row] {
        [
            Row(
                name: "progress",
                summary: "BodyReader over one large file with progress reports; limit: the same without",
                mark: .timeAtMost(1.01)
            ) { fixture, options in
                let path = try fixture.largeFile()
                let body = try MultipartForm { Part.file("file", path: path) }.body()
                let buffer = Libc.Buffer(ReaderRows.bufferSize)
                return .paired(
                    bytes: options.size * Int64(times),
                    sluice: {
                        for _ in 0..<times {
                            let reports = Atomic(0)
                            let meter = ProgressMeter(body) { _ in reports.add(1, ordering: .relaxed) }
                            let reader = try body.makeReader()
                            while unsafe try reader.read(into: buffer.bytes) > 0 { meter.advance(to: reader.mark) }
                            meter.finish(completed: true)
                        }
                    },
                    limits: [("without", { for _ in 0..<times { try ReaderRows.drain(body, buffer) } })]
                )
            }
        ]
    }
}
