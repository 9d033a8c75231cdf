internal import Sluice

extension CurlRequest {
    /// The version of HTTP that a request is made in.
    public enum HTTPVersion: Sendable, Hashable {
        /// HTTP/2 over TLS where the server offers it, else HTTP/1.1.
        case automatic
        /// HTTP/1.1 (RFC 9112).
        case http1_1
        /// HTTP/2 (RFC 9113): offered over TLS, and asked for by `Upgrade` without. A server that does not speak it answers
        /// in HTTP/1.1; ``CurlResponse/httpVersion`` tells.
        case http2
        /// HTTP/2 from the first byte, also without TLS: for servers that are known to speak it.
        case http2PriorKnowledge
    }

    /// The way to a server that cannot be reached directly, or may not be.
    ///
    /// Its description shows no password.
    public struct Proxy: Sendable {
        enum Kind: Sendable {
            case environment
            case none
            case url(String)
        }

        let kind: Kind
        var user: String?
        var password: String?
        var bypassedHosts: [String] = []
        /// Whether `bypassedHosts` stands in for the environment's `no_proxy`.
        var replacesExceptions = false

        /// What `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say, as with curl.
        public static let environment = Proxy(kind: .environment)

        /// No proxy, whatever the environment says.
        public static let none = Proxy(kind: .none)

        /// A proxy.
        ///
        /// `https` URLs go through an HTTP proxy by `CONNECT`, so that it sees the host and no content.
        ///
        /// - Parameters:
        ///   - url: Its URL: `http`, `https`, `socks5`, or `socks5h`, which leaves looking names up to the proxy. User
        ///     and password in it are used unless `user` is given.
        ///   - user: The user, for Basic authentication (RFC 7617) or SOCKS5's (RFC 1929).
        ///   - password: The password.
        ///   - hosts: The hosts that are reached without it: names, which include what ends in them, addresses, or `*`.
        /// - Returns: The proxy.
        public static func url(
            _ url: String,
            user: String? = nil,
            password: String? = nil,
            except hosts: [String] = []
        ) -> Proxy {
            Proxy(kind: .url(url), user: user, password: password, bypassedHosts: hosts)
        }

        /// What the environment says, but for the exceptions: `no_proxy` does not count.
        ///
        /// - Parameter hosts: The hosts that are reached without a proxy, as in ``url(_:user:password:except:)``.
        /// - Returns: The proxy.
        public static func environment(except hosts: [String]) -> Proxy {
            Proxy(kind: .environment, bypassedHosts: hosts, replacesExceptions: true)
        }
    }
}

extension CurlRequest.Proxy: CustomStringConvertible, CustomReflectable {
    /// The URL without user and password.
    public var description: String {
        switch kind {
        case .environment: "environment"
        case .none: "none"
        case .url(let url): printable(Redaction.unreadableURL(url))
        }
    }

    /// Nothing, so that `dump` shows no secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension CurlRequest.TLSOptions {
    /// A certificate that says who the client is, with its private key.
    ///
    /// Its description shows no passphrase.
    public struct ClientCertificate: Sendable, Hashable {
        /// The path of the certificate: PEM, or PKCS #12 where it ends in `.p12` or `.pfx`.
        public var certificateFile: String
        /// The path of the private key in PEM; nil where it is in the certificate's file.
        public var keyFile: String?
        /// What the key is encrypted with; nil for nothing.
        public var passphrase: String?

        /// Names the files, which are read when a connection is made.
        ///
        /// - Parameters:
        ///   - certificateFile: The path of the certificate.
        ///   - keyFile: The path of the private key; nil where it is in the certificate's file.
        ///   - passphrase: What the key is encrypted with; nil for nothing.
        public init(certificateFile: String, keyFile: String? = nil, passphrase: String? = nil) {
            self.certificateFile = certificateFile
            self.keyFile = keyFile
            self.passphrase = passphrase
        }
    }
}

extension CurlRequest.TLSOptions.ClientCertificate: CustomStringConvertible, CustomReflectable {
    /// The certificate's path.
    public var description: String { printable(certificateFile) }

    /// Nothing, so that `dump` shows no passphrase.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
