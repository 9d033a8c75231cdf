import Sluice
import SluiceCurl

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// One download of `sluice download`.
struct Download: Sendable {
    private let options: DownloadOptions
    private let request: CurlRequest
    private let client: CurlClient
    private let display: TransferDisplay

    /// Makes a download.
    ///
    /// - Parameters:
    ///   - options: Where it goes, and how.
    ///   - request: What is asked for.
    ///   - client: Who asks.
    ///   - display: What is told how far it is.
    init(_ options: DownloadOptions, _ request: CurlRequest, _ client: CurlClient, _ display: TransferDisplay) {
        self.options = options
        self.request = request
        self.client = client
        self.display = display
    }

    /// Does it.
    ///
    /// - Throws: Why there is no file.
    func run() async throws(ToolError) {
        guard let output = options.output else {
            return try await stream { (bytes) throws(ToolError) in try StandardOutput.write(bytes) }
        }
        guard Descriptor.isPipeOrDevice(output) else { return try await write(to: output) }
        try options.refuseOptionsOfFiles(for: output)
        try await OutputFile.replacing(output) { (file) async throws(ToolError) in
            try await stream { (bytes) throws(ToolError) in try file.write(bytes) }
        }
    }

    // MARK: To a file

    private func write(to path: String) async throws(ToolError) {
        let hasLeftovers = !options.file.startsOver && Self.hasPartialFile(path)
        var hasBytes = false
        for await event in client.downloadEvents(request, toFile: path, options: options.file) {
            switch event {
            case .progress(let progress):
                hasBytes = progress.completedBytes > 0
                display.show(progress)
            case .retrying(let notice): display.show(notice)
            case .completed(let file):
                display.end(keepsBar: true)
                if hasLeftovers, file.resumedBytes == 0 {
                    display.say("what an earlier download left was of no use; all of it was downloaded again")
                }
                return
            case .failed(let error):
                // The process ends without a word about what it was doing, as one does that a signal ends.
                if error.code == .cancelled, hasBytes, keepsPart(behind: error, path) {
                    display.say("what came is kept, and -C goes on with it")
                }
                throw explain(error, path, hasBytes: hasBytes)
            }
        }
        throw ToolError(.software, "the download ended without a word")
    }

    /// The error with what can be done about it.
    private func explain(_ error: TransferError, _ path: String, hasBytes: Bool) -> ToolError {
        let what = ToolError(error)
        if let hint = redirectHint(error.response) { return ToolError(what.exitCode, what.message + hint) }
        // What lies there if nothing came is of another download, or of no use.
        guard hasBytes, ![.usage, .httpError].contains(what.exitCode), keepsPart(behind: error, path) else {
            return what
        }
        return ToolError(what.exitCode, "\(what.message); what came is kept, and -C goes on with it")
    }

    /// Whether what came is of use to another download: it is where it is still there, as the transport knows.
    private func keepsPart(behind error: TransferError, _ path: String) -> Bool {
        options.file.resumes && error.code != .fileInUse
            // What is in the way of it is no partial file; a disk that is full has one.
            && (error.code != .fileFailed || [ENOSPC, EDQUOT, EIO].contains(error.errno ?? 0))
            && Self.hasPartialFile(path)
    }

    /// Whether the transport has left what it can go on with.
    private static func hasPartialFile(_ path: String) -> Bool {
        PartialName.path(of: (try? SystemCalls.resolve(path)) ?? path).map { SystemCalls.exists($0) } ?? false
    }

    private func redirectHint(_ response: CurlResponse?) -> String? {
        guard let response, (300..<400).contains(response.status), let location = response.header("Location") else {
            return nil
        }
        return ", but is at \(printable(location)); -L follows there"
    }

    // MARK: To whatever is no file

    /// Hands on the bytes as they come, at the pace at which they are taken.
    private func stream(_ write: ([UInt8]) throws(ToolError) -> Void) async throws(ToolError) {
        let progress = StreamProgress(display)
        let answer = try await answer(progress)
        let head = answer.head
        guard head.status == 200 else {
            let reason = head.reason.map { " \(printable($0))" } ?? ""
            throw ToolError(
                .httpError,
                "\(printable(head.url)): the server answered \(head.status)\(reason), which is not the file"
                    + (redirectHint(head) ?? "")
            )
        }
        progress.accept()
        var chunks = answer.chunks.makeAsyncIterator()
        while let chunk = try await Self.next(&chunks) { try write(chunk) }
        display.end(keepsBar: true)
    }

    private func answer(_ progress: StreamProgress) async throws(ToolError) -> StreamedResponse {
        do throws(TransferError) {
            return try await client.downloadChunks(request) { progress.show($0) }
        } catch {
            throw ToolError(error)
        }
    }

    private static func next(_ chunks: inout ResponseChunks.Iterator) async throws(ToolError) -> [UInt8]? {
        do throws(TransferError) {
            return try await chunks.next(isolation: nil)
        } catch {
            throw ToolError(error)
        }
    }
}
