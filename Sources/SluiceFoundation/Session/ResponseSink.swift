internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// What a response begins with.
struct ResponseHead: Sendable {
    let status: Int
    let headers: [String: String]
    /// The bytes of the content, where they are known and what is received is what was sent.
    let length: Int64?

    /// - Parameters:
    ///   - response: What `URLSession` has.
    ///   - method: The request's method.
    ///   - hasBody: Whether the body will be told of.
    init(_ response: HTTPURLResponse, method: String, hasBody: Bool = true) {
        status = response.statusCode
        headers = response.allHeaderFields.reduce(into: [:]) { fields, field in
            if let name = field.key as? String, let value = field.value as? String { fields[name] = value }
        }
        // `URLSession` undoes codings, and has no length for what comes of it. A HEAD's length is that of a GET.
        let isCoded = headers.value(ofField: "Content-Encoding").map { $0.lowercased() != "identity" } ?? false
        let hasContent = hasBody && method != "HEAD" && status != 204 && status != 304
        let isChunked = headers.value(ofField: "Transfer-Encoding") != nil
        let length =
            isCoded || isChunked || !hasContent ? nil : headers.value(ofField: "Content-Length").flatMap { Int64($0) }
        self.length = length.flatMap { $0 < 0 ? nil : $0 }
    }
}

/// Where the bytes of a response go, as they come.
enum ResponseSink: Sendable {
    /// Into memory, up to a limit; more is an error, or dropped.
    case memory(Data, limit: Int, dropsRest: Bool)
    case file(DownloadFile)

    static let nothing = ResponseSink.memory(Data(), limit: 0, dropsRest: true)

    var body: Data {
        if case .memory(let data, _, _) = self { data } else { Data() }
    }

    /// Whether what comes is what was asked for, and not the page of an error or a redirect.
    var isForTheCaller: Bool {
        if case .memory(_, _, dropsRest: true) = self { false } else { true }
    }

    mutating func receive(_ chunk: Data) throws(SessionError) {
        switch self {
        case .file(let file):
            try file.write(chunk)
        case .memory(var data, let limit, let dropsRest):
            // Taken out, so that there is one reference to the bytes and appending does not copy them.
            self = .nothing
            let room = limit - data.count
            if chunk.count > room, !dropsRest {
                throw .tooLarge(limit)
            }
            data.append(chunk.prefix(max(room, 0)))
            self = .memory(data, limit: limit, dropsRest: dropsRest)
        }
    }
}

extension SessionError {
    static func tooLarge(_ limit: Int) -> SessionError {
        SessionError(.responseTooLarge, "the response is longer than the limit of \(limit) bytes")
    }
}
