import Sluice
import SluiceCurl
import SluiceTestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A process that ends, whatever its clients are at.
@Suite struct ProcessEndTests {
    enum Moment: String, CaseIterable, Codable, Sendable {
        case clientGone, clientThere, uploading
    }

    /// What libcrypto would clear up is in the hands of threads that end at that moment, a matter of microseconds.
    @Test func `libcrypto is not taken down while threads of clients may use it`() async throws {
        let server = try await Fixtures.server
        await #expect(processExitsWith: .exitCode(7)) { [url = server.url("/upload") as String] in
            // Handlers run in the reverse order: this one behind any that is registered later.
            _ = atexit { _exit(ProcessEndTests.isCryptoThere() ? 7 : 8) }
            let body = try MultipartForm { Part.field("a", "b") }.body()
            _ = try await CurlClient().upload(body, to: url)
            exit(0)
        }
    }

    /// Whether libcrypto would still begin, which it does not behind its end.
    private static func isCryptoThere() -> Bool {
        typealias Begin = @convention(c) (UInt64, OpaquePointer?) -> Int32
        // Of all that is loaded.
        guard let symbol = unsafe dlsym(nil, "OPENSSL_init_crypto") else { return false }
        return unsafe unsafeBitCast(symbol, to: Begin.self)(0, nil) == 1
    }

    /// It is a matter of microseconds whether a thread is in the way, so that it is tried often.
    @Test(arguments: Moment.allCases, 0..<10)
    func `A process ends well while the thread of a client is at work`(moment: Moment, number: Int) async throws {
        let server = try await Fixtures.server
        await #expect(processExitsWith: .success) {
            [moment = moment as Moment, url = server.url("/upload") as String] in
            let body = try MultipartForm { Part.field("a", "b") }.body()
            switch moment {
            case .clientGone:
                _ = try await CurlClient().upload(body, to: url)
            case .clientThere:
                let client = CurlClient()
                _ = try await client.upload(body, to: url)
                withExtendedLifetime(client) { exit(0) }
            case .uploading:
                let client = CurlClient()
                let zeros = GeneratorSource.restartable { { $0.append(0) } }
                let endless = try MultipartForm { Part.file("f", zeros, filename: "f") }.body()
                let upload = Task { try await client.upload(endless, to: url) }
                try await Task.sleep(for: .milliseconds(50))
                withExtendedLifetime((client, upload)) { exit(0) }
            }
        }
    }
}
