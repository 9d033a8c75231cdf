import Glibc
import Sluice
import SluiceTestSupport

/// How a body is read: by a reader, or by the kernel into a file, a pipe or a socket.
enum ReadingWay: CaseIterable, Sendable {
    case reader, file, pipe, socket

    /// Reads all of a body, with the directory as a place for a file.
    func read(_ body: MultipartBody, in directory: TemporaryDirectory) async throws -> [UInt8] {
        switch self {
        case .reader:
            return try body.bytes(bufferSize: 1000)
        case .file:
            let target = "\(directory.path)/target"
            let descriptor = try Files.descriptor(of: target, O_WRONLY | O_CREAT | O_TRUNC)
            defer { close(descriptor) }
            try body.write(to: descriptor)
            return try TemporaryDirectory.contents(ofFile: target)
        case .pipe:
            return try await Channel.pipe().collect { try body.write(to: $0) }
        case .socket:
            return try await Channel.socketPair().collect { try body.write(to: $0) }
        }
    }
}
