import Foundation
import Sluice
import SluiceCurl
import SluiceTestSupport

/// What the tests share: servers that are started once, and how to read their answers.
enum Fixtures {
    /// aiohttp, over HTTP and TLS.
    static let server = Result { try ServerProcess("upload_server.py", "--tls", certificates.get().path) }
    static let nginx = Result { try ServerProcess("nginx_server.py", "--tls", certificates.get().path) }

    /// The certificates of `make_certificates.py`.
    static let certificates = Result {
        let directory = try TemporaryDirectory()
        _ = try ChildProcess.firstLine(
            of: ServerProcess.python,
            ServerProcess.interop("make_certificates.py"),
            directory.path
        )
        return directory
    }

    /// A form with a field and a file of `count` bytes in memory.
    static func form(_ count: Int = 1000) throws -> MultipartBody {
        try MultipartForm {
            Part.field("title", "Holiday")
            Part.file("data", bytes: TemporaryDirectory.noise(count), filename: "noise.bin")
        }.body()
    }
}

/// The answer of the server's endpoints.
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
    let file: String?
    let `protocol`: String?

    init(_ response: Response) throws {
        self = try JSONDecoder().decode(Account.self, from: Data(response.body))
    }

    /// The values of a header field that the server received.
    func values(_ name: String) -> [String] {
        (headers ?? []).filter { $0.first?.lowercased() == name.lowercased() }.map { $0[1] }
    }
}
