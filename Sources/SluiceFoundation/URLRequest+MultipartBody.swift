public import Sluice

#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLRequest {
    /// Makes this the request that uploads a body: its method, its headers and its stream.
    ///
    /// GET becomes POST, other methods stay. The Content-Type is the body's, and the framing is the one that fits: a
    /// body whose length is known goes out with exactly that Content-Length, any other with chunked transfer coding.
    ///
    /// ```swift
    /// var request = URLRequest(url: url)
    /// let upload = request.setMultipartBody(body)
    /// URLSession.shared.dataTask(with: request) { data, response, error in
    ///     if let why = upload.error { print(why) }  // part "film": /data/film.mkv: ends at byte 4096, ...
    /// }.resume()
    /// ```
    ///
    /// `URLSession.upload(_:for:)` does this and the rest; use this one for a task of your own.
    ///
    /// A request with a stream is sent once: call this again for another attempt. Where `URLSession` itself starts over
    /// (a lost connection, a challenge), it asks its delegate's `urlSession(_:task:needNewBodyStream:)`, which should
    /// give it a new ``Sluice/MultipartBody/makeInputStream(startingAt:progress:)``. `URLSession` on Linux does not ask
    /// for a redirect by 307 or 308, and sends nothing in place of the body: have the delegate refuse
    /// such redirects by answering nil in `willPerformHTTPRedirection`.
    ///
    /// - Important: On Linux all sessions of a process read their streams on one queue. A body that waits, for a pipe or
    ///   an async sequence, holds all of `URLSession` up, `cancel()` included; ``BodyInputStream/Handle/close()`` ends it.
    ///   Bodies of files and memory do not wait. For others see <doc:URLSessionOnLinux>.
    ///
    /// - Parameters:
    ///   - body: What to upload. Nothing is read yet, and nothing is copied.
    ///   - progress: Called with the progress at most ten times a second, and at the end, on the thread that reads.
    ///     What it counts are the bytes handed to `URLSession`.
    /// - Returns: A hold on the request's `httpBodyStream`, to be asked for its error when the upload failed, and
    ///   closed to end it.
    @discardableResult
    public mutating func setMultipartBody(
        _ body: MultipartBody,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) -> BodyInputStream.Handle {
        let stream = body.makeInputStream(progress: progress)
        setMultipartBody(body, stream: stream)
        return stream.handle
    }

    /// Sets the body's stream, and the headers that go with it.
    mutating func setMultipartBody(_ body: MultipartBody, stream: BodyInputStream) {
        if httpMethod == nil || httpMethod == "GET" { httpMethod = "POST" }
        httpBodyStream = stream
        setValue(body.contentType, forHTTPHeaderField: "Content-Type")
        setValue(body.contentLength.map { String($0) }, forHTTPHeaderField: "Content-Length")
        setValue(body.contentLength == nil ? nil : Self.plainTransferEncoding, forHTTPHeaderField: "Transfer-Encoding")
    }

    #if canImport(FoundationNetworking)
    /// The Transfer-Encoding that goes with a Content-Length: exactly one space.
    ///
    /// FoundationNetworking sends every stream chunked, even beside a Content-Length, and both together are forbidden
    /// (RFC 9112 section 6.2) and a way to smuggle requests. libcurl below it takes a Transfer-Encoding of the caller's
    /// that is not `chunked` for a wish to send the body plain, and drops a header whose value is blank. An empty value
    /// or `identity` would be sent, and answered with 501. The tests look at the wire.
    private static let plainTransferEncoding: String? = " "
    #else
    private static let plainTransferEncoding: String? = nil
    #endif
}
