import Sluice
import SluiceCurl
import SluiceTestSupport
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Bytes in chunks of one size, with a pause before each.
struct ChunkSequence: AsyncSequence, Sendable {
    private let bytes: [UInt8]
    private let size: Int
    private let pause: Duration
    private let failure: (any Error)?

    /// Makes a sequence, which throws `failure` in place of its end where there is one.
    init(_ bytes: [UInt8], size: Int, pause: Duration = .zero, failure: (any Error)? = nil) {
        self.bytes = bytes
        self.size = size
        self.pause = pause
        self.failure = failure
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: ArraySlice<UInt8>
        let sequence: ChunkSequence

        mutating func next() async throws -> ArraySlice<UInt8>? {
            if sequence.pause > .zero { try await Task.sleep(for: sequence.pause) }
            if rest.isEmpty, let failure = sequence.failure { throw failure }
            let chunk = rest.prefix(sequence.size)
            rest = rest.dropFirst(chunk.count)
            return chunk.isEmpty ? nil : chunk
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: bytes[...], sequence: self) }
}

/// Debug lines as they come.
final class Lines: Sendable {
    private let lines = Mutex<[CurlRequest.DebugLine]>([])

    func add(_ line: CurlRequest.DebugLine) { lines.withLock { $0.append(line) } }

    func texts(_ kind: CurlRequest.DebugLine.Kind? = nil) -> [String] {
        lines.withLock { $0.filter { kind == nil || $0.kind == kind }.map(\.text) }
    }
}

/// Progress reports as they come.
final class Reports: Sendable {
    private let reports = Mutex<[TransferProgress]>([])

    func add(_ report: TransferProgress) { reports.withLock { $0.append(report) } }

    var all: [TransferProgress] { reports.withLock { $0 } }
}

extension MultipartBody {
    /// Writes the body to a file that is there, on a thread that may wait for an async source.
    func write(toPath path: String) async throws {
        _ = try await onThread {
            let descriptor = unsafe open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
            defer { close(descriptor) }
            return try write(to: descriptor)
        }
    }
}
