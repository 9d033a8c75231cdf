/// Keeps web pages of others from uploading: a browser lets any page send forms anywhere, to this machine too.
///
/// A page that is not this server's own is told by `Sec-Fetch-Site` and `Origin`, which scripts cannot set. One that calls
/// itself by a name of its own, which it then points to this machine (DNS rebinding), is told by `Host`, where only
/// addresses, `localhost` and names that were allowed may be. Clients that are no browsers send neither of the two.
struct RequestGuard: Sendable {
    /// The names by which the server may be called, in lower case.
    private let hosts: Set<String>

    /// - Parameter hosts: The names, besides addresses and `localhost`.
    init(allowing hosts: [String]) {
        self.hosts = Set(hosts.map { $0.lowercased() } + ["localhost"])
    }

    /// Why a request is refused; nil where it is not.
    ///
    /// - Parameters:
    ///   - host: The request's `Host`.
    ///   - origin: Its `Origin`.
    ///   - site: Its `Sec-Fetch-Site`.
    /// - Returns: The reason, in a sentence without a full stop.
    func refusal(host: String?, origin: String?, site: String?) -> String? {
        guard let host = host?.lowercased(), allows(host) else {
            return "this server is not called that; use its address, or start it with --allow-host"
        }
        if let site, site != "same-origin", site != "none" {
            return "the upload comes from another site's page"
        }
        if let origin = origin?.lowercased(), origin != "http://\(host)", origin != "https://\(host)" {
            return "the upload comes from another site's page"
        }
        return nil
    }

    private func allows(_ host: String) -> Bool {
        let name = Self.name(of: host)
        if hosts.contains(name) { return true }
        // Only an address has a colon in it, or digits alone behind its last dot.
        if name.hasPrefix("["), name.hasSuffix("]") { return true }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        return labels.count == 4
            && labels.allSatisfy { label in
                !label.isEmpty && label.count <= 3 && label.utf8.allSatisfy { (0x30...0x39).contains($0) }
            }
    }

    /// The host without the port.
    private static func name(of host: String) -> String {
        guard let colon = host.lastIndex(of: ":") else { return host }
        let port = host[host.index(after: colon)...]
        return port.utf8.allSatisfy { (0x30...0x39).contains($0) } ? String(host[..<colon]) : host
    }
}
