import Sluice
import SluiceTestSupport
import Testing

/// What a pipe gave is gone, whichever body it was read for.
@Suite(.timeLimit(.minutes(2))) struct StreamTurnTests {
    private func pipe(of text: String) throws -> Channel {
        let channel = try Channel.pipe()
        try writeAll(Array(text.utf8), to: channel.writeEnd)
        Files.close(channel.writeEnd)
        return channel
    }

    @Test func `A second body of a form with a pipe is an error, not an empty part`() throws {
        let channel = try pipe(of: "hello")
        defer { Files.close(channel.readEnd) }
        let form = try MultipartForm {
            Part.file("a", FileSource(descriptor: channel.readEnd, ownership: .borrowed), filename: "a")
        }
        _ = try form.body().bytes()
        let second = try form.body()
        let error = failure { try second.bytes() }
        #expect(error?.code == .notReplayable)
        #expect(error?.part?.name == "a")
    }

    @Test func `One pipe in two parts is an error that names the second`() throws {
        let channel = try pipe(of: "hello")
        defer { Files.close(channel.readEnd) }
        let source = FileSource(descriptor: channel.readEnd, ownership: .borrowed)
        let body = try MultipartForm {
            Part.file("a", source, filename: "a")
            Part.file("b", source, filename: "b")
        }.body()
        let error = failure { try body.bytes() }
        #expect(error?.code == .notReplayable)
        #expect(error?.part?.name == "b")
    }
}
