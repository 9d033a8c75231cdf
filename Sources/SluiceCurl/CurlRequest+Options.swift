extension CurlRequest {
    /// Who asks: the credentials of a request.
    ///
    /// Its description shows no password and no token.
    public struct Authentication: Sendable {
        enum Scheme: Sendable {
            case basic, digest, any
            case bearer
        }

        let scheme: Scheme
        let user: String
        /// The password or the token.
        let secret: String

        /// Basic authentication (RFC 7617), sent with the first request.
        ///
        /// Only TLS keeps the password secret.
        ///
        /// - Parameters:
        ///   - user: The user, without a colon.
        ///   - password: The password.
        /// - Returns: The credentials.
        public static func basic(user: String, password: String) -> Authentication {
            Authentication(scheme: .basic, user: user, secret: password)
        }

        /// Digest authentication (RFC 7616), which does not send the password.
        ///
        /// The server is asked for its challenge with an empty body, so that the body is sent once. It is for servers
        /// that demand it: another one may answer the empty body with an error, which is then the response.
        ///
        /// - Parameters:
        ///   - user: The user.
        ///   - password: The password.
        /// - Returns: The credentials.
        public static func digest(user: String, password: String) -> Authentication {
            Authentication(scheme: .digest, user: user, secret: password)
        }

        /// Digest or Basic, whichever the server names in its 401; nothing is sent before.
        ///
        /// The body is sent again after the 401, so one that can be read once fails unless the 401 came before its first
        /// byte was read, as it does with ``CurlRequest/ExpectContinue/always`` where the server honours it.
        ///
        /// - Parameters:
        ///   - user: The user.
        ///   - password: The password.
        /// - Returns: The credentials.
        public static func any(user: String, password: String) -> Authentication {
            Authentication(scheme: .any, user: user, secret: password)
        }

        /// A bearer token (RFC 6750), sent with the first request.
        ///
        /// - Parameter token: The token, without white space.
        /// - Returns: The credentials.
        public static func bearer(_ token: String) -> Authentication {
            Authentication(scheme: .bearer, user: "", secret: token)
        }
    }

    /// How a server is checked before anything is sent to it.
    public struct TLSOptions: Sendable, Hashable {
        /// The oldest version of TLS to speak.
        public enum Version: Sendable, Hashable {
            /// TLS 1.2 (RFC 5246).
            case v1_2
            /// TLS 1.3 (RFC 8446).
            case v1_3
        }

        /// What of a certificate is checked.
        public enum Verification: Sendable, Hashable {
            /// That a trusted authority signed it, that it is valid today, and that it is the host's.
            case full
            /// Nothing. Whoever can reach the connection can read and change what is sent, the credentials included: for
            /// tests only. To trust a certificate of one's own, set ``CurlRequest/TLSOptions/caFile``.
            case disabled
        }

        /// A file of PEM certificates to trust in place of the system's; nil for the system's.
        public var caFile: String?
        /// The oldest version of TLS to speak.
        public var minimumVersion = Version.v1_2
        /// What of the certificate is checked.
        public var verification = Verification.full
        /// The certificate to show to a server that asks for one; nil for none.
        ///
        /// It is shown to the URL's own origin only, as ``CurlRequest/authentication`` is.
        public var clientCertificate: ClientCertificate?

        /// The system's authorities, TLS 1.2 or newer, everything checked.
        public init() {}
    }

    /// What becomes of an answer that names another place.
    ///
    /// 307 and 308 send the body again, 303 asks with `GET` and without it, 301 and 302 do so after a `POST`. Only `http`
    /// and `https` are followed.
    public enum Redirects: Sendable, Hashable {
        /// The redirect is the response.
        case none
        /// It is followed, `limit` times at most; one more is ``TransferError/Code/tooManyRedirects``.
        case follow(limit: Int)
    }

    /// Whether a server is asked, with `Expect: 100-continue`, before the body is sent.
    ///
    /// A server that refuses can then do so before a byte of the body has moved. One that does not answer within a second is
    /// sent the body all the same. HTTP/2 has no use for it.
    public enum ExpectContinue: Sendable, Hashable {
        /// For bodies above 1 MiB or of unknown length, which is libcurl's own rule.
        case automatic
        /// For every body.
        case always
        /// Never: saves a round trip to a server that is known to take the body.
        case never
    }

    /// A line of what goes on in a transfer, with credentials taken out.
    public struct DebugLine: Sendable, Hashable {
        /// Where a line comes from.
        public enum Kind: Sendable, Hashable {
            /// What libcurl says about name resolution, connection, TLS and the like.
            case info
            /// A line of the request's head.
            case requestHeader
            /// A line of a response's head.
            case responseHeader
        }

        /// Where the line comes from.
        public let kind: Kind
        /// The line, without its end and without control characters.
        public let text: String
    }
}

extension CurlRequest.Authentication: CustomStringConvertible, CustomReflectable {
    /// The scheme's name and the user.
    public var description: String { scheme == .bearer ? "bearer" : "\(scheme) user \(user)" }

    /// Nothing, so that `dump` shows no secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
