/// How parts are compressed with gzip (RFC 1952), see ``Part/gzip(level:mode:workers:length:blockSize:)``.
public enum Gzip {
    /// How the receiver is told that a part is compressed.
    public enum Mode: Sendable, Hashable {
        /// The part is a gzip file: its filename gets `.gz`, and its type is `application/gzip`.
        ///
        /// Any receiver accepts it, and RFC 7578 section 4.8 allows nothing else in form-data.
        case file
        /// The part keeps its name and type, and says `Content-Encoding: gzip`.
        ///
        /// For receivers that are known to honour it, and for `multipart/mixed` and `related`.
        case contentEncoding
    }

    /// How many threads compress one part.
    ///
    /// The bytes are the same for any number. One worker compresses on the thread that reads; several have threads of
    /// their own, each with 700 KiB of memory at the default block size.
    public struct Workers: Sendable, Hashable, ExpressibleByIntegerLiteral {
        /// The number; nil for as many as there are cores.
        let count: Int?

        /// As many as the process may use cores, by its affinity and its cgroup's quota of CPU time; one for parts of
        /// fewer than four blocks.
        public static let automatic = Workers(count: nil)

        private init(count: Int?) {
            self.count = count
        }

        /// A number of workers.
        ///
        /// - Parameter count: 1 to 256; another is an error when the part is added to a form.
        public init(_ count: Int) {
            self.init(count: count)
        }

        /// A number of workers.
        ///
        /// - Parameter value: As for ``init(_:)``.
        public init(integerLiteral value: Int) {
            self.init(count: value)
        }
    }

    /// How the length of the compressed bytes becomes known.
    public enum Length: Sendable, Hashable {
        /// Not at all before they are sent: the body goes with chunked transfer coding.
        case unknown
        /// By compressing twice: ``MultipartForm/body()`` compresses the part to count its bytes, and reading it
        /// compresses it again.
        ///
        /// The source must be readable more than once. Reading throws ``MultipartError/Code/contentChanged`` where the
        /// second pass gives other bytes.
        case measured
        /// By compressing ahead: ``MultipartForm/body()`` compresses the part into memory, and all of it into a
        /// temporary file that has no name where that takes more than `memoryLimit` bytes.
        ///
        /// The part can then be read from any offset, also where its source can be read only once. The file lies in
        /// `TMPDIR`, else in `/tmp`.
        case spooled(memoryLimit: Int)
    }

    /// The level that zlib calls its default: 6.
    public static let defaultLevel = 6

    /// The bytes that are compressed at a time: 128 KiB.
    ///
    /// A block can use what the 32 KiB before it hold, so that blocks cost some 0.1 % in size, and one worker 2 % in
    /// speed. Larger ones need more memory and gain little.
    public static let defaultBlockSize = 128 * 1024
}

/// What decides over the compressed bytes, and how they are made.
struct GzipSettings: Sendable {
    var level = Gzip.defaultLevel
    var blockSize = Gzip.defaultBlockSize
    var workers = Gzip.Workers.automatic

    /// A block must be able to hold the history of the next one.
    static let blockSizes = DeflateFormat.windowSize...64 << 20
    static let workerCounts = 1...256

    func validate() throws(MultipartError) {
        guard (0...9).contains(level) else {
            throw MultipartError(.invalidCompression, "the gzip level \(level) is not 0 to 9")
        }
        guard Self.blockSizes.contains(blockSize) else {
            throw MultipartError(.invalidCompression, "the gzip block size \(blockSize) is not 32 KiB to 64 MiB")
        }
        if let count = workers.count, !Self.workerCounts.contains(count) {
            throw MultipartError(.invalidCompression, "\(count) gzip workers are not 1 to 256")
        }
    }

    /// The number of workers that a content is worth.
    func workerCount(for length: Int64?) -> Int {
        let blocks = length.map { max($0 / Int64(blockSize), 1) } ?? .max
        let wanted = workers.count ?? (blocks < 4 ? 1 : min(AvailableCores.count, Self.workerCounts.upperBound))
        return Int(min(Int64(wanted), blocks))
    }
}
