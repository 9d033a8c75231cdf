import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What a command writes its output to.
struct OutputFile: Sendable {
    /// Where to write.
    let descriptor: Int32
    private let path: String

    /// Writes a file whole, or not at all: it takes its name once it is whole.
    ///
    /// What is there under that name stays as it is until then, and stays for good where the tool fails or is ended by a
    /// signal. A pipe or device cannot be replaced, and is written to directly.
    ///
    /// - Parameters:
    ///   - path: The file's path. Where it is a symbolic link, the file that it leads to is replaced.
    ///   - write: Writes to the file. Whatever it takes to fail early is done before.
    /// - Throws: Where the file cannot be created or may not be replaced, and what `write` throws.
    static func replacing(
        _ path: String,
        write: (OutputFile) async throws(ToolError) -> Void
    ) async throws(ToolError) {
        if Descriptor.isPipeOrDevice(path) { return try await writing(to: path, write) }
        let file: NewFile
        do { file = try NewFile(path, replacing: .file) } catch { throw ToolError(output: error) }
        // Before there is a file, so that no signal finds one that nobody removes.
        let cleanup = Cleanup.add { file.discard() }
        defer { Cleanup.run(cleanup) }
        do { try file.create() } catch { throw ToolError(output: error) }
        try await write(OutputFile(descriptor: file.descriptor, path: path))
        Signals.endIfReceived()
        do { try file.commit() } catch { throw ToolError(output: error) }
    }

    private static func writing(
        to path: String,
        _ write: (OutputFile) async throws(ToolError) -> Void
    ) async throws(ToolError) {
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw .system(.cannotCreate, path, "cannot be opened for writing", errno) }
        do {
            try await write(OutputFile(descriptor: descriptor, path: path))
        } catch {
            close(descriptor)
            throw error
        }
        Signals.endIfReceived()
        do {
            try SystemCalls.closeWritten(descriptor)
        } catch {
            throw .system(.inputOutput, path, "cannot be written", error.rawValue)
        }
    }

    /// Writes bytes to it.
    ///
    /// - Parameter bytes: The bytes.
    /// - Throws: Where they cannot be written.
    func write(_ bytes: [UInt8]) throws(ToolError) {
        do {
            try Descriptor.write(bytes, to: descriptor)
        } catch {
            throw .system(.inputOutput, path, "cannot be written", error.rawValue)
        }
    }
}
