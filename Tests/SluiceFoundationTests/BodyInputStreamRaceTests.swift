import Foundation
import Sluice
import SluiceFoundation
import SluiceTestSupport
import Testing

/// Streams that are closed at random moments while another thread reads.
@Suite(.serialized, .timeLimit(.minutes(30))) struct BodyInputStreamRaceTests {
    @Test(arguments: seeds(fixed: 1, fresh: 1))
    func `Closing at any moment gives the bytes up to there, or all, and closes the file`(seed: UInt64) async throws {
        let count = CancellationStorm.count(ProcessInfo.processInfo.environment, few: 50)
        let directory = try TemporaryDirectory()
        let content = TemporaryDirectory.noise(1_500_000)
        let path = try directory.file("f", content)
        let parts = ["file", "async"].map { name in
            ReferencePart.formData(
                name: name,
                filename: name == "file" ? "f" : "a",
                type: "application/octet-stream",
                content: content
            )
        }
        let expected = ReferenceEncoder.encode(boundary: "b", parts)
        var random = SeededGenerator(seed: seed)
        var closed = 0
        for _ in 0..<count {
            // A sequence can be read once.
            let chunks = Upstream().chunks(chunked(content, [7000]))
            let body = try MultipartForm(boundary: Boundary("b")) {
                Part.file("file", path: path)
                Part.file("async", AsyncSource(chunks), filename: "a")
            }.body()
            let handle = Box<BodyInputStream.Handle>()
            async let read = onThread {
                let stream = body.makeInputStream()
                stream.open()
                handle.value = stream.handle
                return drain(stream, bufferSize: 3000)
            }
            #expect(await eventually { handle.value != nil })
            try await Task.sleep(for: .microseconds(Int.random(in: 0...20_000, using: &random)))
            handle.value?.close()
            let (bytes, last) = await read
            if last < 0 {
                closed += 1
                #expect(handle.value?.error?.code == .cancelled)
                #expect(expected.starts(with: bytes), "seed \(seed)")
            } else {
                #expect(difference(bytes, expected) == nil, "seed \(seed)")
            }
        }
        #expect(closed > 0, "seed \(seed)")
        print("\(closed) of \(count) streams were closed before their end, seed \(seed)")
        #expect(await eventually { Files.openPaths(under: directory.path).isEmpty })
    }
}
