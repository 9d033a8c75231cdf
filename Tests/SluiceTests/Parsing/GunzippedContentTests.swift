import Sluice
import SluiceTestSupport
import Testing

/// Parts that are gzip, decompressed as they arrive.
@Suite(.timeLimit(.minutes(5))) struct GunzippedContentTests {
    private static func gzip(_ content: [UInt8]) async throws -> [UInt8] {
        try await onThread {
            let directory = try TemporaryDirectory()
            let path = try directory.file("f", content)
            _ = try ChildProcess(["/bin/sh", "-c", "gzip -9nc \"$0\" > \"$0.gz\"; echo", path]).readLine()
            return try TemporaryDirectory.contents(ofFile: path + ".gz")
        }
    }

    private static func gunzip(_ member: [UInt8], _ limits: GunzipLimits, by size: Int = 1000) async throws -> [UInt8] {
        let head = Array("--b\r\nContent-Disposition: form-data; name=a; filename=f\r\n\r\n".utf8)
        let body = head + member + Array("\r\n--b--\r\n".utf8)
        let reader = try MultipartReader(
            Upstream().chunks(chunked(body, [size])),
            contentType: MultipartReaderTests.type,
            limits: MultipartReaderTests.limits
        )
        var content: [UInt8] = []
        for try await part in reader {
            for try await bytes in part.gunzipped(limits: limits) {
                #expect((1...65_536).contains(bytes.count))
                content += bytes
            }
        }
        return content
    }

    @Test(arguments: [1, 3, 1000, 1 << 20])
    func `What gzip compressed is what it was`(size: Int) async throws {
        for content in [
            [], [1], TemporaryDirectory.noise(200_000), Array(String(repeating: "log line\r\n--b", count: 9).utf8),
        ] {
            let member = try await Self.gzip(content)
            let result = try await Self.gunzip(member, GunzipLimits(bytes: Int64(content.count)), by: size)
            #expect(difference(result, content) == nil)
        }
    }

    @Test func `Members one behind the other are one content`() async throws {
        let members = try await Self.gzip([1, 2]) + Self.gzip([]) + Self.gzip([3])
        for size in [1, 1000] {
            #expect(try await Self.gunzip(members, GunzipLimits(bytes: 3), by: size) == [1, 2, 3])
        }
    }

    @Test func `What is cut off, damaged or followed by something else is an error`() async throws {
        let member = try await Self.gzip(Array("some text, some text".utf8))
        let limits = GunzipLimits(bytes: 1000)
        for count in 0..<member.count {
            let error = await failure { try await Self.gunzip(Array(member[..<count]), limits) }
            #expect(error?.code == .invalidGzip && error?.part?.name == "a" && error?.suggestedStatus == 400)
        }
        for behind in [[0], Array("x".utf8), [0x1F, 0x8B], Array(repeating: 0, count: 512), Array(member.dropLast())]
            as [[UInt8]]
        {
            for size in [1, 1000] {
                #expect(
                    await failure { try await Self.gunzip(member + behind, limits, by: size) }?.code == .invalidGzip
                )
            }
        }
        // Checksum and length.
        for index in member.count - 8..<member.count {
            var damaged = member
            damaged[index] ^= 1
            #expect(await failure { try await Self.gunzip(damaged, limits) }?.code == .invalidGzip)
        }
        // RFC 1950's format and bare deflate are others.
        for other in [[0x78, 0x9C, 0x03, 0x00, 0x00, 0x00, 0x00, 0x01], [0x03, 0x00], Array("plain".utf8)] as [[UInt8]]
        {
            #expect(await failure { try await Self.gunzip(other, limits) }?.code == .invalidGzip)
        }
    }

    @Test func `A bomb ends at the limit of its bytes or of its ratio`() async throws {
        let bomb = try await Self.gzip([UInt8](repeating: 0, count: 20 << 20))
        #expect(bomb.count < 30_000)
        var limits = GunzipLimits(bytes: 100 << 20)
        let ratio = await failure { try await Self.gunzip(bomb, limits) }
        #expect(ratio?.code == .inflatedTooMuch && ratio?.suggestedStatus == 413)
        limits.ratio = 1032
        #expect(try await Self.gunzip(bomb, limits).count == 20 << 20)
        for bytes in [0, 1, 65_535, 65_536, 20 << 20] as [Int64] {
            limits.bytes = bytes
            let error = await failure { try await Self.gunzip(bomb, limits) }
            #expect(error?.code == (bytes < 20 << 20 ? .inflatedTooLarge : nil))
        }
    }

    @Test func `It can be collected and saved`() async throws {
        let directory = try TemporaryDirectory()
        let member = try await Self.gzip(Array("text".utf8))
        let head = Array("--b\r\nContent-Disposition: form-data; name=a; filename=f\r\n\r\n".utf8)
        let part = head + member + [13, 10]
        let reader = try MultipartReader(
            Upstream().chunks([part + part + part + Array("--b--".utf8)]),
            contentType: MultipartReaderTests.type,
            limits: MultipartReaderTests.limits
        )
        for try await part in reader {
            let content = part.gunzipped(limits: GunzipLimits(bytes: 4))
            switch part.headers.index {
            case 0: #expect(try await content.text(upTo: 4) == "text")
            case 1: #expect(await failure { try await content.collect(upTo: 3) }?.code == .limitExceeded)
            default: #expect(try await content.save(to: directory.path + "/saved") == 4)
            }
        }
        #expect(try TemporaryDirectory.contents(ofFile: directory.path + "/saved") == Array("text".utf8))
    }
}
