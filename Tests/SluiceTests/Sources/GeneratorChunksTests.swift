import Sluice
import SluiceTestSupport
import Testing

@Suite struct GeneratorChunksTests {
    private func source(_ chunks: [[UInt8]], knownLength: Int64? = nil) -> GeneratorSource {
        GeneratorSource.chunks(knownLength: knownLength) {
            var rest = chunks[...]
            return { rest.popFirst() }
        }
    }

    private static let chunks: [[UInt8]] = [[1, 2, 3], [], [4], Array(repeating: 9, count: 100_000), [], [5]]

    @Test(arguments: [1, 2, 3, 7, 4096, 65536])
    func `Chunks of any size fit any buffer`(bufferSize: Int) throws {
        let body = try OnePart.body(source(Self.chunks))
        #expect(try body.bytes(bufferSize: bufferSize) == OnePart.framed(Self.chunks.flatMap(\.self)))
        // Again, because a factory makes them anew.
        #expect(try body.bytes(bufferSize: bufferSize) == OnePart.framed(Self.chunks.flatMap(\.self)))
        #expect(body.replay == .restartable)
    }

    @Test func `Fewer bytes than declared are an error`() throws {
        let body = try OnePart.body(source([[1, 2]], knownLength: 3))
        #expect(throwing(.lengthMismatch) { try body.bytes() })
    }

    @Test func `An error of the function is the source's`() throws {
        struct Broken: Error {}
        let body = try OnePart.body(GeneratorSource.chunks { { throw Broken() } })
        #expect(failure { try body.bytes() }?.underlyingError is Broken)
    }
}
