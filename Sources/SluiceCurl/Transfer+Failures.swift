internal import CCurl
internal import Sluice

/// What libcurl's errors mean to whoever made the request, and what to do about them.
extension Transfer {
    /// An error about this transfer as it stands.
    func error(
        _ code: TransferError.Code,
        _ reason: String,
        _ curlCode: CURLcode? = nil,
        response: CurlResponse? = nil
    ) -> TransferError {
        TransferError(
            code,
            reason,
            url: url,
            curlCode: curlCode.map { Int32($0.rawValue) },
            sentBytes: feed?.position ?? 0,
            bodyError: code == .bodyFailed ? feed?.failure : nil,
            response: response
        )
    }

    /// The error for a request that libcurl gave up.
    func failure(_ code: CURLcode) -> TransferError {
        // What went wrong on this side explains more than what libcurl made of it.
        if feed?.failure != nil { return error(.bodyFailed, "the body could not be read", code) }
        if collector.isTooLarge {
            return error(
                .responseTooLarge,
                "the server answered \(collector.status ?? 0) with more than \(ticket.request.responseBodyLimit) bytes; "
                    + "raise the request's limit of the response's body to get them",
                code
            )
        }
        if collector.isHeadTooLarge { return error(.protocolError, "the server sent endless header fields", code) }
        if isLost {
            return error(
                .connectionLost,
                "the connection was lost while the body was sent, and the server may have acted on what it got; try again "
                    + "if that does no harm, or let the retry policy do so (repeatsAnyMethod)",
                code
            )
        }
        if feed?.isUsedUp == true {
            return error(
                .bodyNotReplayable,
                "the body would have to be sent again, and a part of it can be read only once; make the source "
                    + "restartable, or have the server asked before the body is sent (expectContinue)",
                code
            )
        }
        if code == CURLE_OUT_OF_MEMORY, handle.info(CURLINFO_STARTTRANSFER_TIME_T) > 0, !collector.isHeadComplete {
            // libcurl has one code for both.
            return error(
                .protocolError,
                "the server sent a header field that is too long, or memory has run out",
                code
            )
        }
        // libcurl has one code for servers that do not speak HTTP/2 and for those that take their leave by it.
        let isFarewell = code == CURLE_HTTP2 && fate.isConnectionClosing
        let (kind, advice) = Self.meaning(of: isFarewell ? CURLE_HTTP2_STREAM : code)
        return error(kind, advice + details(code), code)
    }

    /// The error for a limit that was passed.
    func error(_ passed: TransferLimits.Passed) -> TransferError {
        let (code, reason) = explain(passed)
        return error(code, reason)
    }

    private func explain(_ passed: TransferLimits.Passed) -> (TransferError.Code, String) {
        switch passed {
        case .total(let limit):
            return (
                .timeout, "the transfer took longer than \(limit); raise totalTimeout for bodies of this size"
            )
        case .idle(let limit) where feed?.isWaiting == true:
            return (
                .idleTimeout,
                "the body's source gave no bytes for \(limit); raise idleTimeout if it may be so slow"
            )
        case .idle(let limit) where !isConnected:
            return (
                .idleTimeout, "the TLS handshake, or the proxy, has stood still for \(limit); check host and port"
            )
        case .idle(let limit) where feed?.isAtEnd == true:
            return (
                .idleTimeout, "all was sent, and the server has not answered for \(limit); raise idleTimeout"
            )
        case .idle(let limit):
            return (.idleTimeout, "nothing moved for \(limit); the network or the server is stuck")
        }
    }

    /// libcurl's own words in parentheses.
    private func details(_ code: CURLcode) -> String {
        var text = handle.errorText
        if text.isEmpty { text = unsafe String(cString: curl_easy_strerror(code)) }
        return " (\(printable(Redaction.withoutUserInfo(text))))"
    }

    private static func meaning(of code: CURLcode) -> (TransferError.Code, String) {
        switch code {
        case CURLE_OK:
            (.protocolError, "the server's answer has no head")
        case CURLE_COULDNT_RESOLVE_HOST:
            (.couldNotResolve, "the host's name has no address; check the name and the network")
        case CURLE_COULDNT_RESOLVE_PROXY:
            (.couldNotResolve, "the proxy's name has no address; check the proxy's settings")
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_PROXY:
            (.couldNotConnect, "nobody accepts the connection; check host, port and firewalls")
        case CURLE_OPERATION_TIMEDOUT:
            (.timeout, "connecting took too long; check host and network, or raise connectTimeout")
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
            (
                .tls,
                "the server's certificate is not to be trusted: trust its authority with tls.caFile, and check the host"
            )
        case CURLE_SSL_CACERT_BADFILE:
            (.tls, "the CA file cannot be read, or has no certificates in it")
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_NOTFOUND,
            CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_USE_SSL_FAILED:
            (
                .tls,
                "no TLS connection came about; does the server speak TLS on this port, and a version that is allowed?"
            )
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_SSL_SHUTDOWN_FAILED,
            CURLE_HTTP2_STREAM:
            (
                .connectionLost,
                "the connection was lost before all of the answer was there; look at the server's log, and try again"
            )
        case CURLE_HTTP2, CURLE_HTTP3, CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING,
            CURLE_HTTP_RETURNED_ERROR:
            (.protocolError, "what the server sends is not HTTP as it should be; check host and port")
        case CURLE_UPLOAD_FAILED:
            (.protocolError, "the server speaks HTTP/1.0 and wants a Content-Length; give every source a known length")
        case CURLE_URL_MALFORMAT, CURLE_BAD_FUNCTION_ARGUMENT, CURLE_UNKNOWN_OPTION, CURLE_NOT_BUILT_IN:
            (.invalidRequest, "libcurl does not take the request")
        case CURLE_TOO_MANY_REDIRECTS:
            (.protocolError, "the server refuses the credentials again and again, and each time as if they were new")
        case CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT, CURLE_NO_CONNECTION_AVAILABLE:
            (.resourcesExhausted, "memory, descriptors or threads have run out")
        default:
            (.other, "the transfer failed")
        }
    }
}
