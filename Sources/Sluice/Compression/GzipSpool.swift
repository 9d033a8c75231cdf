/// Compresses a content ahead, into memory, and into a file without a name where it is too much for that.
struct GzipSpool {
    private let memoryLimit: Int
    private var memory: [UInt8] = []
    private var file: SharedDescriptor?

    private init(memoryLimit: Int) {
        self.memoryLimit = max(memoryLimit, 0)
    }

    /// Compresses all of a content.
    ///
    /// - Parameters:
    ///   - source: The content.
    ///   - memoryLimit: The most compressed bytes that are kept in memory.
    ///   - interrupt: Ends it, also where the content waits.
    /// - Returns: The compressed bytes, and the number of bytes they are made of.
    /// - Throws: What reading throws; ``MultipartError/Code/writeFailed`` where the temporary file cannot be made or
    ///   written; ``MultipartError/Code/cancelled`` where the task was cancelled or the interrupt triggered.
    static func content(
        of source: GzipContent,
        memoryLimit: Int,
        interrupt: ReadInterrupt?
    ) throws(MultipartError) -> (content: Content, sourceLength: Int64) {
        var spool = GzipSpool(memoryLimit: memoryLimit)
        let extent = unsafe try source.compressAll(interrupt: interrupt) { (bytes) throws(MultipartError) in
            unsafe try spool.append(bytes)
        }
        return (try spool.content(length: extent.length), extent.sourceLength)
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) throws(MultipartError) {
        if file == nil {
            let needed = memory.count + bytes.count
            if needed <= memoryLimit {
                // Not twice as much, as an array would of its own.
                if needed > memory.capacity { memory.reserveCapacity(min(2 * needed, memoryLimit)) }
                return unsafe memory.append(contentsOf: bytes)
            }
            let made = try Self.makeFile()
            let written = unsafe memory.withUnsafeBytes { held in
                Result { () throws(MultipartError) in unsafe try Self.write(held, to: made) }
            }
            try written.get()
            memory = []
            file = made
        }
        if let file { unsafe try Self.write(bytes, to: file) }
    }

    private func content(length: Int64) throws(MultipartError) -> Content {
        guard let file else { return .memory(HeldBytes(memory)) }
        return try FileSource(file, range: 0..<length).resolve()
    }

    // MARK: The file

    private static func makeFile() throws(MultipartError) -> SharedDescriptor {
        let directory = SystemCalls.temporaryDirectory
        do {
            return SharedDescriptor(try SystemCalls.openTemporaryFile(in: directory), .owned)
        } catch {
            throw MultipartError(
                .writeFailed,
                "no temporary file for the compressed bytes can be made; set TMPDIR to a directory with room",
                path: directory,
                error
            )
        }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to file: SharedDescriptor) throws(MultipartError) {
        do {
            try unsafe SystemCalls.writeAll(bytes, to: file.rawValue)
        } catch {
            throw MultipartError(
                .writeFailed,
                "the temporary file for the compressed bytes cannot be written; set TMPDIR to a directory with room",
                path: SystemCalls.temporaryDirectory,
                error
            )
        }
    }
}
