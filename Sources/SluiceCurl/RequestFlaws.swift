/// What of a request's options cannot be handed to libcurl, in words; nil where all can.
extension CurlRequest {
    /// What is wrong with the way to the server.
    var networkFlaw: String? {
        if let unixSocket {
            if unixSocket.isEmpty || unixSocket.utf8.contains(0) {
                return "the path of the unix socket is empty or has a NUL in it"
            }
            // The size of sockaddr_un's path on Linux; it is 104 on Darwin.
            if unixSocket.utf8.count > 107 { return "the path of the unix socket is longer than 107 bytes" }
        }
        for (name, limit) in [("uploadRateLimit", uploadRateLimit), ("downloadRateLimit", downloadRateLimit)] {
            if let limit, limit < 1 { return "\(name) is \(limit); give 1 or more bytes a second, or nil for no limit" }
        }
        return nil
    }
}

extension CurlRequest.TLSOptions {
    /// What is wrong with the files.
    var flaw: String? {
        if caFile?.utf8.contains(0) == true { return "the path of the CA file has a NUL in it" }
        guard let certificate = clientCertificate else { return nil }
        for path in [certificate.certificateFile, certificate.keyFile ?? "-"]
        where path.isEmpty || path.utf8.contains(0) {
            return "the path of the client's certificate or of its key is empty or has a NUL in it"
        }
        if certificate.passphrase?.utf8.contains(0) == true {
            return "the passphrase of the client's key has a NUL in it"
        }
        return nil
    }
}

extension CurlRequest.TLSOptions.ClientCertificate {
    var isPKCS12: Bool {
        let name = certificateFile.lowercased()
        return name.hasSuffix(".p12") || name.hasSuffix(".pfx")
    }
}
