internal import Sluice

/// What a ``BodyInputStream`` reads from: a body's reader itself, or one that reads ahead.
protocol StreamReader: AnyObject {
    /// Reads the next bytes; at least one unless the buffer is empty, or 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(MultipartError) -> Int

    /// Where the reading stands.
    var mark: BodyReader.Mark { get }
}

extension BodyReader: StreamReader {}
