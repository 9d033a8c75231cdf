internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Passes on to a transfer's exchanges what `URLSession` says of their tasks.
final class SessionDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let exchanges = Mutex<[Int: Exchange]>([:])

    /// Says which exchange a task belongs to, before the task is resumed.
    func register(_ exchange: Exchange, for task: URLSessionTask) {
        exchanges.withLock { $0[task.taskIdentifier] = exchange }
    }

    private func exchange(_ task: URLSessionTask) -> Exchange? {
        exchanges.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse { exchange(dataTask)?.receive(response) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(dataTask)?.receive(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let exchange = exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        exchange?.complete(error, task.response as? HTTPURLResponse)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(exchange(task)?.makeStream())
    }

    /// Leaves every redirect to the transfer, which knows how to send a body again.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    #if canImport(FoundationNetworking)
    /// Leaves a challenge to the transfer as well: `URLSession` on Linux answers it with an empty body, traps on schemes
    /// that it does not know, and without a credential waits for ever.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let credential =
            challenge.proposedCredential ?? session.configuration.credential(for: challenge.protectionSpace)
        exchange(task)?.challenge(credential?.basicAuthorization)
        // This cancels the task, which must not be done on the queue that this runs on.
        TransferSession.control.async { completionHandler(.cancelAuthenticationChallenge, nil) }
    }
    #endif
}

#if canImport(FoundationNetworking)
extension URLSessionConfiguration {
    /// The stored credential for Basic authentication; Foundation on Linux finds none, because there no two protection
    /// spaces are equal.
    fileprivate func credential(for space: URLProtectionSpace) -> URLCredential? {
        guard space.authenticationMethod == NSURLAuthenticationMethodHTTPBasic else { return nil }
        let stored = urlCredentialStorage?.allCredentials.first { known, _ in
            known.authenticationMethod == space.authenticationMethod && known.host == space.host
                && known.port == space.port && known.protocol == space.protocol && known.realm == space.realm
        }
        return stored?.value.min { $0.key < $1.key }?.value
    }
}

extension URLCredential {
    /// The value of `Authorization`; nil for what cannot be sent (RFC 7617 section 2).
    fileprivate var basicAuthorization: String? {
        guard let user, !user.contains(":"), let password else { return nil }
        return "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())"
    }
}
#endif
