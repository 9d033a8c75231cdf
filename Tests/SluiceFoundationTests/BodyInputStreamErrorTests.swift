import Foundation
import Sluice
import SluiceFoundation
import SluiceTestSupport
import Testing

/// Errors, which must be found by whoever looks for them and never pass for an end.
@Suite struct BodyInputStreamErrorTests {
    private struct Failure: Error {}

    private let scratch: TemporaryDirectory

    init() throws {
        scratch = try TemporaryDirectory()
    }

    @Test("A source that throws midway ends the stream with its error, for good", arguments: [1000 as Int64?, nil])
    func failingSource(knownLength: Int64?) throws {
        let stream = try body(failingAfter: 100, knownLength: knownLength).makeInputStream()
        stream.open()
        let (bytes, last) = drain(stream, bufferSize: 64)
        #expect(last == -1)
        #expect(bytes.suffix(100) == [UInt8](repeating: 0x78, count: 100)[...])
        for _ in 0..<2 {
            #expect(stream.streamStatus == .error)
            #expect(stream.hasBytesAvailable, "a reader that takes false for the end must come to read the error")
            #expect(read(stream, 10).count == -1)
            #expect(stream.bodyError?.code == .sourceFailed)
            #expect(stream.bodyError?.part?.name == "broken")
            #expect(stream.bodyError?.underlyingError is Failure)
            #expect((stream.streamError as? MultipartError)?.code == .sourceFailed)
            #expect(stream.handle.error?.code == .sourceFailed)
        }
        stream.close()
        #expect(stream.streamStatus == .closed)
        #expect(stream.bodyError?.code == .sourceFailed)
        #expect(stream.hasBytesAvailable)
        #expect(read(stream, 10).count == -1)
    }

    @Test("A source shorter than it declares is an error, and a longer one is cut", arguments: [99, 100, 101])
    func length(actual: Int) throws {
        var form = MultipartForm()
        let source = GeneratorSource.restartable(knownLength: 100) {
            var left = actual
            return { buffer in
                while buffer.freeCapacity > 0, left > 0 {
                    buffer.append(0x78)
                    left -= 1
                }
            }
        }
        try form.append(.file("source", source, filename: "x"))
        let body = try form.body()
        let stream = body.makeInputStream()
        stream.open()
        let (bytes, last) = drain(stream)
        if actual < 100 {
            #expect(last == -1)
            #expect(stream.bodyError?.code == .lengthMismatch)
        } else {
            #expect(Int64(bytes.count) == body.contentLength)
            #expect(stream.bodyError == nil)
        }
    }

    @Test("A file that is truncated while it is read is an error that names the part and the path")
    func truncatedFile() throws {
        let file = try scratch.fileURL("film.mkv", pattern(200_000))
        var form = MultipartForm()
        try form.addFile(name: "film", url: file)
        let stream = try form.body().makeInputStream()
        stream.open()
        #expect(read(stream, 50_000).count > 0)
        try cut(file, to: 60_000)
        let (_, last) = drain(stream)
        #expect(last == -1)
        #expect(stream.bodyError?.code == .fileShrank)
        #expect(stream.bodyError?.part?.name == "film")
        #expect(stream.bodyError?.path == file.path)
        #expect(stream.position < 60_500)
    }

    @Test("A file that is gone when its turn comes is an error of reading, not of opening")
    func missingFile() throws {
        let file = try scratch.fileURL("film.mkv", pattern(100))
        var form = MultipartForm()
        try form.addFile(name: "film", url: file)
        let body = try form.body()
        try FileManager.default.removeItem(at: file)
        let stream = body.makeInputStream()
        stream.open()
        #expect(stream.streamStatus == .open)
        #expect(drain(stream).last == -1)
        #expect(stream.bodyError?.code == .fileChanged)
        #expect(stream.bodyError?.path == file.path)
    }

    @Test("A body that can be read once gives its second stream an error")
    func once() throws {
        var form = MultipartForm()
        try form.append(.file("once", GeneratorSource.once { _ in }, filename: "x"))
        let body = try form.body()
        for code in [nil, MultipartError.Code.notReplayable] {
            let stream = body.makeInputStream()
            stream.open()
            #expect(drain(stream).last == (code == nil ? 0 : -1))
            #expect(stream.bodyError?.code == code)
        }
    }

    private func body(failingAfter count: Int, knownLength: Int64?) throws -> MultipartBody {
        var form = MultipartForm()
        let source = GeneratorSource.restartable(knownLength: knownLength) {
            var left = count
            return { buffer in
                if left == 0 { throw Failure() }
                while buffer.freeCapacity > 0, left > 0 {
                    buffer.append(0x78)
                    left -= 1
                }
            }
        }
        try form.append(.file("broken", source, filename: "x"))
        return try form.body()
    }
}
