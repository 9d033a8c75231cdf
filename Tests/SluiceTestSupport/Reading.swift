package import Sluice

extension MultipartBody {
    /// The body's bytes, read with a buffer of this size.
    package func bytes(
        from offset: Int64 = 0,
        bufferSize: Int = 64 * 1024,
        interrupt: ReadInterrupt? = nil
    ) throws(MultipartError) -> [UInt8] {
        try makeReader(startingAt: offset, interrupt: interrupt).rest(bufferSize: bufferSize)
    }

    /// The body as text, for comparisons that people can read.
    package func text() throws(MultipartError) -> String {
        String(decoding: try bytes(), as: UTF8.self)
    }
}

extension BodyReader {
    /// Everything that is left, by way of the overload for raw memory.
    ///
    /// The buffer's size may change from read to read.
    package func rest(bufferSize: @autoclosure () -> Int) throws(MultipartError) -> [UInt8] {
        var result: [UInt8] = []
        while true {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferSize(), alignment: 1)
            defer { unsafe buffer.deallocate() }
            let count = unsafe try read(into: buffer)
            if count == 0 { return result }
            unsafe result.append(contentsOf: buffer[..<count])
        }
    }

    /// Everything that is left, by way of the overload for spans.
    package func restThroughSpans(bufferSize: @autoclosure () -> Int) throws(MultipartError) -> [UInt8] {
        var result: [UInt8] = []
        while true {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferSize(), alignment: 1)
            defer { unsafe buffer.deallocate() }
            var span = unsafe OutputRawSpan(buffer: buffer, initializedCount: 0)
            let count = try read(into: &span)
            guard unsafe span.finalize(for: buffer) == count else {
                throw MultipartError(.readFailed, "the reader's result is not what it appended")
            }
            if count == 0 { return result }
            unsafe result.append(contentsOf: buffer[..<count])
        }
    }
}

extension BodyChunks {
    /// All chunks, one by one.
    package func all() async throws(MultipartError) -> [[UInt8]] {
        var result: [[UInt8]] = []
        for try await chunk in self { result.append(chunk) }
        return result
    }
}
