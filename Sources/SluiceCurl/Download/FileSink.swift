internal import Sluice

/// The sink for a file.
///
/// Used on the loop's thread only.
final class FileSink: BodySink {
    private let writer: FileWriter
    private let urlDigest: String?
    private let options: FileDownloadOptions
    private var block: FileWriter.Block?
    private var validator: Validator?
    /// Whether the server's answers fit what was asked for, so that it may be asked for the rest.
    private var asksForRest = true
    /// Whether the server sent more than there should be, so that nobody must go on with it.
    private var isTooLong = false
    private(set) var position: Int64 = 0
    private(set) var total: Int64?
    /// How many bytes an earlier download left behind that this one goes on from.
    private(set) var resumedBytes: Int64 = 0

    /// Makes a sink; nothing is opened yet.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - options: What is asked of the file.
    ///   - url: What is downloaded.
    ///   - threads: Who writes.
    ///   - notify: Called with what happens, from another thread.
    /// - Throws: Where the options or the path make no sense, or there is no thread to be had.
    init(
        _ path: String,
        _ options: FileDownloadOptions,
        url: String,
        _ threads: DiskThreads,
        notify: @escaping @Sendable (FileWriter.Event) -> Void
    ) throws(TransferError) {
        if let flaw = options.flaw { throw TransferError(.invalidRequest, flaw) }
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw TransferError(.invalidRequest, "the path of the file is empty or has a NUL in it")
        }
        self.options = options
        // A URL may hold a secret, so that only its digest is written down.
        urlDigest = options.resumes ? SHA256.digest(url)?.hexadecimal : nil
        do {
            writer = try FileWriter(PartialFile(path, options, urlDigest: urlDigest), threads, notify: notify)
        } catch {
            throw TransferError(.resourcesExhausted, "there is no thread to write the file on: \(error)")
        }
    }

    func open() { writer.open() }

    /// Says that the file is open, and what of it is there.
    func opened(_ point: ResumePoint?) {
        guard let point else { return }
        position = point.offset
        resumedBytes = point.offset
        validator = point.validator
        total = point.total
    }

    var resumePoint: ResumePoint? {
        guard asksForRest, position > 0, let validator else { return nil }
        return ResumePoint(offset: position, validator: validator, total: total)
    }

    func begin(_ response: CurlResponse) -> SinkVerdict {
        if let point = resumePoint {
            switch response.status {
            case 206 where response.continues(point):
                total = total ?? response.header("Content-Range").flatMap { ContentRange($0)?.total }
                return .take
            case 206, 416:
                asksForRest = false
                return .startOver
            default: break
            }
        }
        guard response.status == 200 else { return .collect }
        if let wanted = options.length, let length = response.bodyLength, length != wanted {
            return .refuse(.contentMismatch, "the server has \(length) bytes, and the file must have \(wanted)")
        }
        restart(response)
        return .take
    }

    private func restart(_ response: CurlResponse) {
        block?.count = 0
        validator = Validator(of: response.header)
        total = options.length ?? response.bodyLength
        position = 0
        resumedBytes = 0
        let record = validator.flatMap { validator in
            urlDigest.map { PartialRecord(urlDigest: $0, validator: validator, total: total) }
        }
        writer.restart(record)
    }

    func take(_ bytes: UnsafeRawBufferPointer) -> SinkTaking {
        // Now, and not at the end: there may be none, and the disk is smaller.
        isTooLong = position + Int64(bytes.count) > total ?? .max
        if isTooLong { return .abort }
        // All or nothing: libcurl offers the whole again after a pause.
        if let block, block.count + bytes.count > FileWriter.Block.capacity {
            writer.write(block)
            self.block = nil
        }
        if block == nil { block = writer.takeBlock() }
        var rest = unsafe bytes
        while let block {
            let count = unsafe block.append(rest)
            position += Int64(count)
            if count == rest.count { return .taken }
            // Longer than a block, which libcurl's pieces are not.
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            writer.write(block)
            self.block = FileWriter.Block()
        }
        return .pause
    }

    /// Hands on what has been gathered: at the end, and before a wait.
    func flush() {
        if let block {
            writer.write(block)
            self.block = nil
        }
    }

    /// Checks the file and puts it in its place.
    func commit() {
        flush()
        writer.commit(total: total)
    }

    /// Closes the file without putting it in its place.
    ///
    /// - Parameter keeps: Whether what came is of use to another download; it is kept only where that could go on with it.
    func abandon(keeps: Bool) {
        let keeps = keeps && !isTooLong
        if keeps { flush() }
        writer.abandon(keeps: keeps)
    }
}
