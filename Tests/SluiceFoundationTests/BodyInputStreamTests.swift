import Foundation
import Sluice
import SluiceFoundation
import SluiceTestSupport
import Testing

/// What every consumer of an InputStream may rely on.
@Suite struct BodyInputStreamTests {
    private let scratch: TemporaryDirectory

    init() throws {
        scratch = try TemporaryDirectory()
    }

    @Test(
        "The bytes are the body's, whatever the buffer's size",
        arguments: SampleBody.allCases,
        [1, 2, 3, 7, 4096, 65536]
    )
    func bytes(_ sample: SampleBody, bufferSize: Int) async throws {
        let body = try sample.form(in: scratch).body()
        let (read, last, error, collected) = try await onThread {
            Result {
                let stream = body.makeInputStream()
                stream.open()
                let (bytes, last) = drain(stream, bufferSize: bufferSize)
                return (bytes, last, stream.bodyError, try body.collect(upTo: .max))
            }
        }.get()
        #expect(read == collected)
        #expect(last >= 0)
        #expect(error == nil)
    }

    @Test("The status tells how far the stream is")
    func status() throws {
        let stream = try body(of: "abc").makeInputStream()
        #expect(stream.streamStatus == .notOpen)
        #expect(stream.streamError == nil)
        #expect(stream.hasBytesAvailable)
        stream.open()
        #expect(stream.streamStatus == .open)
        #expect(stream.streamError == nil)
        _ = read(stream, 1)
        #expect(stream.streamStatus == .open)
        #expect(stream.hasBytesAvailable)
        _ = drain(stream)
        #expect(stream.streamStatus == .atEnd)
        #expect(!stream.hasBytesAvailable)
        #expect(read(stream, 1).count == 0)
        stream.close()
        #expect(stream.streamStatus == .closed)
        #expect(!stream.hasBytesAvailable)
        #expect(read(stream, 1).count == 0)
        #expect(stream.streamError == nil)
    }

    @Test("The last byte of a body of known length is the end, and no read of nothing has to follow")
    func endOfKnownLength() throws {
        let body = try body(of: "abc")
        let stream = body.makeInputStream()
        stream.open()
        #expect(read(stream, Int(try #require(body.contentLength))).count == body.contentLength.map { Int($0) })
        #expect(stream.streamStatus == .atEnd)
        #expect(!stream.hasBytesAvailable)
    }

    @Test("The end of a body of unknown length is the read that gives nothing")
    func endOfUnknownLength() throws {
        var form = MultipartForm()
        try form.append(.file("none", GeneratorSource.restartable { { _ in } }, filename: "none"))
        let stream = try form.body().makeInputStream()
        stream.open()
        var count = 1
        while count > 0 {
            #expect(stream.hasBytesAvailable)
            #expect(stream.streamStatus == .open)
            count = read(stream, 4096).count
        }
        #expect(count == 0)
        #expect(stream.streamStatus == .atEnd)
        #expect(!stream.hasBytesAvailable)
    }

    @Test("Only as many bytes are written as the buffer is said to hold", arguments: [1, 5, 100])
    func limits(length: Int) throws {
        let stream = try body(of: String(repeating: "x", count: 1000)).makeInputStream()
        stream.open()
        var buffer = [UInt8](repeating: 0xAA, count: 200)
        let count = unsafe buffer.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            return unsafe stream.read(start, maxLength: length)
        }
        #expect(count == length)
        #expect(buffer[length...].allSatisfy { $0 == 0xAA })
        #expect(!buffer[..<length].contains(0xAA))
    }

    @Test("A buffer without room is no end", arguments: [0, -1])
    func noRoom(length: Int) throws {
        let body = try body(of: "abc")
        let stream = body.makeInputStream()
        stream.open()
        var byte: UInt8 = 0
        #expect(unsafe stream.read(&byte, maxLength: length) == 0)
        #expect(stream.streamStatus == .open)
        #expect(stream.hasBytesAvailable)
        #expect(drain(stream).bytes == (try body.collect(upTo: .max)))
    }

    @Test("Reading before opening is an error that opening makes good")
    func readBeforeOpen() throws {
        let body = try body(of: "abc")
        let stream = body.makeInputStream()
        #expect(read(stream, 10).count == -1)
        #expect(stream.bodyError?.code == .readFailed)
        #expect(stream.streamStatus == .notOpen)
        stream.open()
        #expect(stream.bodyError == nil)
        #expect(drain(stream).bytes == (try body.collect(upTo: .max)))
    }

    @Test("Opening a second time changes nothing, and a closed stream stays closed")
    func openTwice() throws {
        let body = try body(of: "abc")
        let stream = body.makeInputStream()
        stream.open()
        let first = read(stream, 5).bytes
        stream.open()
        #expect(first + drain(stream).bytes == (try body.collect(upTo: .max)))
        stream.close()
        stream.open()
        #expect(stream.streamStatus == .closed)

        let unopened = body.makeInputStream()
        unopened.close()
        unopened.open()
        #expect(unopened.streamStatus == .closed)
        #expect(read(unopened, 10).count == -1)
    }

    @Test("Each stream reads the body anew")
    func independence() throws {
        let body = try body(of: "abc")
        let expected = try body.collect(upTo: .max)
        let (first, second) = (body.makeInputStream(), body.makeInputStream())
        first.open()
        second.open()
        var bytes: ([UInt8], [UInt8]) = ([], [])
        while first.hasBytesAvailable || second.hasBytesAvailable {
            bytes.0 += read(first, 3).bytes
            bytes.1 += read(second, 5).bytes
        }
        #expect(bytes.0 == expected)
        #expect(bytes.1 == expected)
    }

    @Test("A stream may start at any offset, and knows its position")
    func offsets() throws {
        let body = try body(of: "abc")
        let expected = try body.collect(upTo: .max)
        for offset in 0...expected.count {
            let stream = body.makeInputStream(startingAt: Int64(offset))
            stream.open()
            #expect(stream.position == Int64(offset))
            #expect(stream.streamStatus == (offset == expected.count ? .atEnd : .open))
            #expect(drain(stream, bufferSize: 50).bytes == Array(expected[offset...]))
            #expect(stream.position == body.contentLength)
            #expect(stream.handle.position == body.contentLength)
        }
    }

    @Test("An offset that the body does not have is an error of opening", arguments: [-1, 1_000_000] as [Int64])
    func badOffset(offset: Int64) throws {
        let stream = try body(of: "abc").makeInputStream(startingAt: offset)
        stream.open()
        #expect(stream.streamStatus == .error)
        #expect(stream.bodyError?.code == .invalidRange)
        #expect(read(stream, 10).count == -1)
    }

    @Test("A slice's stream gives the slice's bytes")
    func slice() throws {
        let body = try body(of: String(repeating: "abcdefghij", count: 100))
        let expected = try body.collect(upTo: .max)
        let stream = try body.slice(30..<900).makeInputStream(startingAt: 20)
        stream.open()
        #expect(drain(stream, bufferSize: 64).bytes == Array(expected[50..<900]))
        #expect(stream.streamStatus == .atEnd)
    }

    @Test("What an InputStream has besides reading does no harm")
    func harmless() throws {
        final class Delegate: NSObject, StreamDelegate {}
        let body = try body(of: "abc")
        let stream: InputStream = body.makeInputStream()
        var delegate: Delegate? = Delegate()
        stream.delegate = delegate
        #expect(stream.delegate === delegate)
        delegate = nil
        #expect(stream.delegate == nil)

        stream.schedule(in: .current, forMode: .default)
        stream.open()
        _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
        stream.remove(from: .current, forMode: .default)

        var pointer: UnsafeMutablePointer<UInt8>?
        var length = -1
        #expect(unsafe !stream.getBuffer(&pointer, length: &length))
        #expect(unsafe pointer == nil)
        #expect(length == -1)

        _ = read(stream, 7)
        #expect((stream.property(forKey: .fileCurrentOffsetKey) as? NSNumber)?.intValue == 7)
        #expect(stream.property(forKey: .networkServiceType) == nil)
        #expect(!stream.setProperty(NSNumber(value: 0), forKey: .fileCurrentOffsetKey))
        #expect(drain(stream).bytes.count + 7 == body.contentLength.map { Int($0) })
    }

    @Test("Progress is told of the first bytes and of the end, and never goes back", arguments: [100, 65536])
    func progress(bufferSize: Int) async throws {
        let body = try SampleBody.known.form(in: scratch).body()
        let reports = Reports()
        await onThread {
            let stream = body.makeInputStream { reports.append($0) }
            stream.open()
            _ = drain(stream, bufferSize: bufferSize)
        }
        let all = reports.all
        #expect(all.count >= 2)
        #expect(all.map(\.completedBytes) == all.map(\.completedBytes).sorted())
        #expect(all.last?.isFinished == true)
        #expect(all.last?.completedBytes == body.contentLength)
        #expect(all.count { $0.isFinished } == 1)
    }

    @Test("Progress of a stream that is closed early ends without a finish")
    func progressOfClosed() throws {
        let reports = Reports()
        let stream = try body(of: "abc").makeInputStream { reports.append($0) }
        stream.open()
        _ = read(stream, 10)
        stream.close()
        #expect(reports.all.last?.completedBytes == 10)
        #expect(reports.all.allSatisfy { !$0.isFinished })
    }

    private func body(of text: String) throws -> MultipartBody {
        var form = MultipartForm()
        try form.addField(name: "text", value: text)
        return try form.body()
    }
}
