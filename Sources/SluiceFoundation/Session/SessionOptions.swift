/// How an upload or download by `URLSession` is to behave, besides what the session's configuration says.
public struct SessionOptions: Sendable {
    /// What becomes of a redirect.
    public enum Redirects: Sendable, Hashable {
        /// The redirect itself is the response.
        case none
        /// It is followed, so many times at most.
        ///
        /// By 307 and 308 the body is sent again, from its start, to the new URL; where a part of it can be read only
        /// once, the redirect is the response. By 303, and a `POST` by 301 and 302, the new request is a `GET` without a
        /// body (RFC 9110 section 15.4). `Authorization`, `Proxy-Authorization`, `Cookie` and `Host` are not sent to
        /// another scheme, host or port.
        case follow(limit: Int)
    }

    /// Whether redirects are followed; up to ten of them by default.
    public var redirects = Redirects.follow(limit: 10)
    /// Whether a redirect from `https` to `http` is followed, after which all could be read on the way.
    ///
    /// It is ``SessionError/Code/insecureRedirect`` by default.
    public var allowsInsecureRedirects = false
    /// The longest that the whole transfer may take, redirects included.
    ///
    /// Where nil, which is the default, the configuration's `timeoutIntervalForResource` counts. The request's
    /// `timeoutInterval` is the longest in which nothing moves.
    public var totalTimeout: Duration?
    /// The most bytes of an upload's response; a longer one is ``SessionError/Code/responseTooLarge``.
    public var responseBodyLimit = 1024 * 1024
    /// The bytes that are read ahead of a body that may wait (a pipe, a generator, an async sequence), 64 MiB at most.
    ///
    /// On Linux all sessions of a process share one queue, which also reads the bodies; while it waits for a source, no
    /// other transfer moves. So such a body is read by a thread of its own, and its request begins when this much of it
    /// is there, or all of it, or when ``gatheringLimit`` is over. From then on the others wait only where
    /// the source gives less than the network takes and nothing is left of this.
    public var readAhead = 1024 * 1024
    /// The longest that a body which may wait is gathered before its request begins.
    public var gatheringLimit = Duration.seconds(5)

    /// The defaults.
    public init() {}
}
