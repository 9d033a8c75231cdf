import SluiceTestSupport
import Testing

@testable import Sluice

/// Which blocks are deflated and which are stored.
@Suite(.timeLimit(.minutes(5))) struct CompressionEstimateTests {
    private static let size = 128 * 1024

    private func isWorthDeflating(_ block: [UInt8], after history: [UInt8] = []) -> Bool {
        let bytes = history + block
        return unsafe bytes.withUnsafeBytes { unsafe CompressionEstimate().isWorthDeflating($0, from: history.count) }
    }

    private static func mapped(_ alphabet: String) -> [UInt8] {
        let alphabet = Array(alphabet.utf8)
        return GzipSamples.random(size).map { alphabet[Int($0) % alphabet.count] }
    }

    /// Random bytes of which `share` in a hundred are replaced by what `other` gives, in one run at the end.
    private static func mixed(_ share: Int, _ other: [UInt8]) -> [UInt8] {
        GzipSamples.random(size - size * share / 100) + other.prefix(size * share / 100)
    }

    private static let base64 = mapped("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")

    /// Little-endian numbers near each other, as samples of sound are.
    private static let samples: [UInt8] = GzipSamples.random(size / 2).enumerated().flatMap { index, noise in
        let value = 3000 * (index % 200 - 100) / 100 + Int(noise)
        return [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
    }

    /// Records of a random identifier out of a few thousand, and a random number.
    private static let identifiers: [UInt8] = {
        let pool = chunked(GzipSamples.random(16 * 1000, seed: 5), [16])
        let picks = GzipSamples.random(2 * size / 24 + 2, seed: 6)
        return chunked(GzipSamples.random(8 * size / 24), [8]).enumerated().flatMap { index, number in
            pool[(Int(picks[2 * index]) << 8 | Int(picks[2 * index + 1])) % pool.count] + number
        }
    }()

    /// Numbers of four bytes that say nothing by themselves, as of users.
    private static let numbers: [UInt8] = {
        let pool = chunked(GzipSamples.random(4 * 3000, seed: 7), [4])
        let picks = GzipSamples.random(size / 2, seed: 8)
        return (0..<size / 4).flatMap { pool[(Int(picks[2 * $0]) << 8 | Int(picks[2 * $0 + 1])) % pool.count] }
    }()

    static let compressible: [(name: String, block: [UInt8])] = [
        ("text", GzipSamples.text(size)),
        ("base64", base64),
        ("hexadecimal", mapped("0123456789abcdef")),
        ("zeros", [UInt8](repeating: 0, count: size)),
        ("a random kilobyte, repeated", (0..<128).flatMap { _ in GzipSamples.random(1024) }),
        ("31 random KiB, repeated", Array((0..<5).flatMap { _ in GzipSamples.random(31 * 1024) }.prefix(size))),
        ("all bytes in turn", (0..<size).map { UInt8(truncatingIfNeeded: $0) }),
        ("half random, half text", mixed(50, GzipSamples.text(size))),
        ("random, and a tenth text", mixed(10, GzipSamples.text(size))),
        ("random, and a tenth zeros", mixed(10, [UInt8](repeating: 0, count: size))),
        (
            "text with random numbers",
            (0..<size / 16).flatMap { GzipSamples.random(8, seed: UInt64($0)) + Array("\"value\":".utf8) }
        ),
        ("seven bits", GzipSamples.random(size).map { $0 & 0x7F }),
        ("sound", samples),
        ("identifiers", identifiers),
        ("numbers out of a few thousand", numbers),
    ]

    @Test(arguments: compressible.indices)
    func `What can be compressed is`(index: Int) throws {
        let sample = Self.compressible[index]
        #expect(isWorthDeflating(sample.block), "\(sample.name)")
        let member = try GzipSamples.member(ScriptedSource(sample.block))
        #expect(member.count < sample.block.count * 98 / 100, "\(sample.name)")
    }

    @Test func `So is what occurs in the 32 KiB before the block alone`() throws {
        let history = GzipSamples.random(32 * 1024)
        let block = Array(history.suffix(30 * 1024) + GzipSamples.random(98 * 1024, seed: 9))
        #expect(isWorthDeflating(block, after: history))
        #expect(!isWorthDeflating(block))
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `What is random is stored`(seed: UInt64) {
        for size in [16 * 1024, 50_000, Self.size, 1 << 20] {
            #expect(!isWorthDeflating(GzipSamples.random(size, seed: seed)), "\(size)")
        }
    }

    @Test func `What is compressed is stored`() throws {
        let member = try GzipSamples.member(ScriptedSource(GzipSamples.text(2_000_000)))
        for start in stride(from: 0, to: member.count - Self.size, by: Self.size) {
            #expect(!isWorthDeflating(Array(member[start..<start + Self.size])))
        }
    }

    @Test(arguments: 0...9)
    func `Nothing grows by more than the frames of what is stored`(level: Int) throws {
        // Noise whose values are a little uneven is tried, and found not to be worth it.
        let uneven = GzipSamples.random(400_000).map { $0 == 0 ? 1 : $0 }
        for content in [
            [], [1], GzipSamples.random(131_072), GzipSamples.random(400_000), uneven, GzipSamples.random(100),
            GzipSamples.random(20_000),
        ] {
            let member = try GzipSamples.member(ScriptedSource(content), level: level)
            #expect(member.count <= content.count + 5 * ((content.count + 32_767) / 32_768) + 20)
        }
    }
}
