import Foundation
import Sluice
import SluiceCurl
import SluiceTestSupport
import Testing

/// What the tests share: servers that are started once, and bodies to send.
enum Fixtures {
    /// aiohttp, over HTTP and TLS.
    static var server: ServerProcess { get async throws { try await startedServer.value } }
    /// nginx, over HTTP/1.1 and over HTTP/2 with TLS.
    static var nginx: ServerProcess { get async throws { try await startedNginx.value } }
    /// The server that goes wrong on request.
    static var faults: FaultServer { get async throws { try await startedFaults.value } }
    /// The server of HTTP/2 that goes wrong on request.
    static var streams: ServerProcess { get async throws { try await startedStreams.value } }
    /// The directory with the certificates of `make_certificates.py`.
    static var certificates: String { get async throws { try await madeCertificates.value.path } }

    private static let startedServer = Task {
        try await ServerProcess.started("upload_server.py", "--tls", certificates)
    }
    private static let startedNginx = Task {
        try await ServerProcess.started("nginx_server.py", "--tls", certificates)
    }
    private static let startedFaults = Task { try await FaultServer() }
    private static let startedStreams = Task { try await ServerProcess.started("h2_server.py") }
    private static let madeCertificates = Task {
        let directory = try TemporaryDirectory()
        let script = ServerProcess.interop("make_certificates.py")
        return try await onThread {
            _ = try ChildProcess.firstLine(of: ServerProcess.python, script, directory.path)
            return directory
        }
    }

    /// A form with a field and a file of `count` bytes in memory, which can be read again.
    static func form(_ count: Int = 1000) throws -> MultipartBody {
        try MultipartForm {
            Part.field("title", "Holiday")
            Part.file("data", bytes: TemporaryDirectory.noise(count), filename: "noise.bin")
        }.body()
    }

    /// The same form with a source that can be read once.
    static func onceForm(_ count: Int = 1000, knownLength: Bool = true) throws -> MultipartBody {
        try MultipartForm {
            Part.field("title", "Holiday")
            Part.file("data", generator(count, knownLength: knownLength), filename: "noise.bin")
        }.body()
    }

    /// The bytes of `noise(count)` from a generator that can be run once.
    static func generator(_ count: Int, knownLength: Bool = false) -> GeneratorSource {
        let bytes = ContiguousArray(TemporaryDirectory.noise(count))
        var given = 0
        return .once(knownLength: knownLength ? Int64(count) : nil) { buffer in
            while given < bytes.count, buffer.freeCapacity > 0 {
                unsafe buffer.append(bytes[given], as: UInt8.self)
                given += 1
            }
        }
    }

    /// A request that trusts the test authority.
    static func secureRequest(_ method: String? = "POST", url: String) async throws -> CurlRequest {
        var request = CurlRequest(method, url: url)
        request.tls.caFile = try await "\(certificates)/ca.pem"
        return request
    }
}

/// The error that an upload throws; nil where it throws none.
func failure(_ upload: () async throws -> CurlResponse) async -> TransferError? {
    do {
        _ = try await upload()
        return nil
    } catch {
        return error as? TransferError
    }
}

/// What a server says it received.
struct Account: Decodable {
    struct PartAccount: Decodable {
        let name: String?
        let filename: String?
        let contentType: String?
        let size: Int?
        let sha256: String?
    }

    let method: String?
    let headers: [[String]]?
    let contentLength: Int?
    let transferEncoding: String?
    let parts: [PartAccount]?
    let size: Int?
    let sha256: String?

    init(_ response: CurlResponse) throws {
        self = try JSONDecoder().decode(Account.self, from: Data(response.body))
    }

    /// The values of a header field that the server received.
    func values(_ name: String) -> [String] {
        (headers ?? []).filter { $0.first?.lowercased() == name.lowercased() }.map { $0[1] }
    }

    /// Checks that the parts are those of ``Fixtures/form(_:)``, by the digests that `sha256sum` gives.
    func expectForm(_ count: Int = 1000, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let directory = try TemporaryDirectory()
        let digest = try ChildProcess.sha256(ofFile: directory.file("noise", TemporaryDirectory.noise(count)))
        #expect(parts?.map(\.name) == ["title", "data"], sourceLocation: sourceLocation)
        #expect(parts?.map(\.filename) == [nil, "noise.bin"], sourceLocation: sourceLocation)
        #expect(parts?.last?.size == count, sourceLocation: sourceLocation)
        #expect(parts?.last?.sha256 == digest, sourceLocation: sourceLocation)
        // Never both, never none (RFC 9112 section 6.2).
        let framings = values("content-length") + values("transfer-encoding")
        if headers != nil { #expect(framings.count == 1, "\(framings)", sourceLocation: sourceLocation) }
        // Of "Holiday".
        #expect(
            parts?.first?.sha256 == "992b3299061eb2b2e226baccfbb2ba6c122d1e0a85c66a1b9aee3bac5f9c76b3",
            sourceLocation: sourceLocation
        )
    }
}

/// A request as the raw server recorded it, byte for byte.
struct Recorded {
    let requestLine: String
    let fields: [(name: String, value: String)]
    let body: [UInt8]

    /// Reads the recording of the request with this number, from 1.
    init(_ directory: TemporaryDirectory, _ number: Int = 1) throws {
        let bytes = try TemporaryDirectory.contents(ofFile: "\(directory.path)/request-\(number).bin")
        let end = try #require(bytes.firstRange(of: Array("\r\n\r\n".utf8)))
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        requestLine = String(try #require(lines.first))
        fields = lines.dropFirst().map { line in
            let colon = line.firstIndex(of: ":") ?? line.endIndex
            return (line[..<colon].lowercased(), line[colon...].dropFirst().drop { $0 == " " }.description)
        }
        body = Array(bytes[end.upperBound...])
    }

    func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }
}
