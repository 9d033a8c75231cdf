/// A server's final answer.
///
/// Every status is a response and not an error, 4xx and 5xx too: look at ``status``.
public struct CurlResponse: Sendable {
    /// The status code, 200 to 599 and whatever else a server sends.
    public let status: Int
    /// The words after the status code; nil where there are none, as in HTTP/2.
    public let reason: String?
    /// The header fields in order, without those of interim responses, redirects and challenges before.
    public let headers: [(name: String, value: String)]
    /// The body, as it was sent: no content coding is undone.
    public let body: [UInt8]
    /// The method of the request that was answered.
    ///
    /// It is `GET` where a redirect by 301, 302 or 303 made a request without a body of the upload (RFC 9110 section
    /// 15.4): the body went to the first URL at most, as far as ``sentCompletely`` says, and not to this one.
    public let method: String
    /// The URL that answered, which redirects may have changed; without user and password.
    public let url: String
    /// The protocol, as in `HTTP/1.1` or `HTTP/2`.
    public let httpVersion: String
    /// The bytes of the body that were handed over in the last attempt to send it.
    public let sentBytes: Int64
    /// Whether all of the body was sent.
    ///
    /// A server may answer earlier, most often to refuse; the rest is then not sent.
    public let sentCompletely: Bool
    /// How many redirects were followed.
    public let redirectCount: Int
    /// How often was tried, this answer's attempt included.
    public let attempts: Int
    /// The seconds from the call to the response's last byte, redirects and retries included.
    public let elapsedSeconds: Double

    /// A header field's value.
    ///
    /// - Parameter name: The field's name, in upper or lower case.
    /// - Returns: The first such field's value, or nil.
    public func header(_ name: String) -> String? {
        let name = name.lowercased()
        return headers.first { $0.name.lowercased() == name }?.value
    }
}
