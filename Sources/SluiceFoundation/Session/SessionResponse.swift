public import Foundation

/// A server's final answer to a request of `URLSession`.
///
/// Every status is a response and not an error, 4xx and 5xx too: look at ``status``.
public struct SessionResponse: Sendable {
    /// The status code, as in 200.
    public let status: Int
    /// The header fields.
    ///
    /// `URLSession` joins fields that were sent more than once, and forgets their order.
    public let headers: [String: String]
    /// The body; `URLSession` undoes content codings such as gzip.
    ///
    /// It is empty where a download wrote it to a file.
    public let body: Data
    /// The method of the request that was answered: `GET` where a redirect made it one.
    public let method: String
    /// The URL that answered, which redirects may have changed; without user and password.
    public let url: String
    /// The bytes of the upload's body that were handed to `URLSession` in the last attempt to send it.
    public let sentBytes: Int64
    /// Whether all of the upload's body was handed over.
    ///
    /// A server may answer earlier, most often to refuse.
    public let sentCompletely: Bool
    /// How many redirects were followed.
    public let redirectCount: Int
    /// The seconds from the call to the response's last byte.
    public let elapsedSeconds: Double

    /// A header field's value.
    ///
    /// - Parameter name: The field's name, in upper or lower case.
    /// - Returns: The value, or nil.
    public func header(_ name: String) -> String? {
        headers.value(ofField: name)
    }
}

extension [String: String] {
    /// A header field's value, whatever the case of its name.
    func value(ofField name: String) -> String? {
        self[name] ?? first { $0.key.caseInsensitiveCompare(name) == .orderedSame }?.value
    }
}
