internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Whose tasks a transfer runs.
///
/// On Apple platforms these are tasks of the caller's session, with a delegate of their own. On Linux a task's own
/// delegate is not told when the task was made without a completion handler, and the session's is fixed when it is made: there a
/// transfer has a session of its own, made from the caller's configuration with the first task, and invalidated with the
/// last, which releases its delegate, its connections and itself.
final class TransferSession: Sendable {
    /// Where everything is done that waits for `URLSession`: on Linux nearly every call does, and it may take as long as
    /// some body's source makes the process's sessions wait.
    static let control = DispatchQueue(label: "sluice.session")

    private let delegate = SessionDelegate()
    /// The header fields that go with every request of the session.
    let headers: [String: String]

    #if canImport(FoundationNetworking)
    private let configuration: URLSessionConfiguration
    /// Used on ``control`` only.
    private let session = Mutex<URLSession?>(nil)

    init(like session: URLSession) {
        let configuration = session.configuration.copy() as? URLSessionConfiguration ?? session.configuration
        headers = Self.headers(of: configuration)
        // They would go with every request, to whatever origin a redirect leads.
        configuration.httpAdditionalHeaders = nil
        // A cache keeps whole responses in memory.
        configuration.urlCache = nil
        self.configuration = configuration
    }

    deinit {
        let session = session.withLock { $0.take() }
        if let session { Self.control.async { session.finishTasksAndInvalidate() } }
    }

    private func openSession() -> URLSession {
        session.withLock { session in
            if let session { return session }
            let queue = DirectQueue()
            queue.maxConcurrentOperationCount = 1
            let new = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
            session = new
            return new
        }
    }
    #else
    private let session: URLSession

    init(like session: URLSession) {
        self.session = session
        headers = Self.headers(of: session.configuration)
    }

    private func openSession() -> URLSession { session }
    #endif

    private static func headers(of configuration: URLSessionConfiguration) -> [String: String] {
        (configuration.httpAdditionalHeaders ?? [:]).reduce(into: [:]) { fields, field in
            if let name = field.key as? String, let value = field.value as? String { fields[name] = value }
        }
    }

    /// Makes the exchange's task and resumes it, soon.
    func start(_ exchange: Exchange) {
        Self.control.async { [self] in
            guard let request = exchange.makeRequest() else { return }
            let task = openSession().dataTask(with: request)
            #if !canImport(FoundationNetworking)
            task.delegate = delegate
            #endif
            delegate.register(exchange, for: task)
            if exchange.begin(with: task) {
                task.resume()
            } else {
                task.cancel()
            }
        }
    }

    /// Cancels a task, soon.
    static func cancel(_ task: URLSessionTask) {
        control.async { task.cancel() }
    }
}
