import Foundation
import Sluice
import SluiceFoundation
import SluiceTestSupport

/// Everything that a plain consumer of streams gets from an open one, and what its last read gave.
func drain(_ stream: InputStream, bufferSize: Int = 64 * 1024) -> (bytes: [UInt8], last: Int) {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: bufferSize)
    var count = 1
    while count > 0, stream.hasBytesAvailable {
        count = read(stream, into: &buffer)
        if count > 0 { bytes.append(contentsOf: buffer[..<count]) }
    }
    return (bytes, count)
}

/// One read of as many bytes as the buffer has room for.
func read(_ stream: InputStream, into buffer: inout [UInt8]) -> Int {
    unsafe buffer.withUnsafeMutableBufferPointer { buffer in
        guard let start = buffer.baseAddress else { return 0 }
        return unsafe stream.read(start, maxLength: buffer.count)
    }
}

/// One read of at most `count` bytes: what it gave, and the bytes.
func read(_ stream: InputStream, _ count: Int) -> (count: Int, bytes: [UInt8]) {
    var buffer = [UInt8](repeating: 0, count: count)
    let result = read(stream, into: &buffer)
    return (result, Array(buffer.prefix(max(result, 0))))
}

/// Runs what may block on a thread of its own, because the pool that tests share must not block.
func onThread<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: work()) }
    }
}

/// Waits until the condition holds, for as long as a machine that is busy with other tests may take.
///
/// - Returns: Whether it held in time.
func eventually(_ condition: () -> Bool) async -> Bool {
    await ProcessState.settles(within: 60, condition)
}
