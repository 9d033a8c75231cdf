internal import CCurl
internal import Sluice

/// Cuts what libcurl says into lines, and takes the credentials out.
final class DebugLog {
    private let handler: @Sendable (CurlRequest.DebugLine) -> Void
    /// Whether the last header line was a secret: lines that begin with white space go on with it.
    private var isInSecret = false

    init(_ handler: @escaping @Sendable (CurlRequest.DebugLine) -> Void) {
        self.handler = handler
    }

    func take(_ type: curl_infotype, _ bytes: UnsafeRawBufferPointer) {
        let kind: CurlRequest.DebugLine.Kind
        switch type {
        case CURLINFO_TEXT: kind = .info
        case CURLINFO_HEADER_OUT: kind = .requestHeader
        case CURLINFO_HEADER_IN: kind = .responseHeader
        // The rest is the bodies' bytes, and TLS's.
        default: return
        }
        let head = unsafe String(decoding: bytes, as: UTF8.self)
        for line in head.split(whereSeparator: \.isNewline) {
            let text = String(line)
            handler(
                CurlRequest.DebugLine(
                    kind: kind,
                    text: printable(kind == .info ? Redaction.info(text) : redactHeader(text))
                )
            )
        }
    }

    private func redactHeader(_ line: String) -> String {
        if let first = line.utf8.first, first == 0x20 || first == 0x09 {
            return isInSecret ? " \(Redaction.mark)" : line
        }
        let redacted = Redaction.header(line)
        isInSecret = redacted != nil
        return redacted ?? Redaction.withoutUserInfo(line)
    }
}
