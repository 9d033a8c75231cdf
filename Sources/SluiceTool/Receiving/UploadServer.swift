internal import CMicroHTTPD
import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// An HTTP server that takes in uploads, on GNU libmicrohttpd, with a thread for each connection.
///
/// What a socket gave is parsed where it lies in the connection's buffer, and written to a file from there.
// @unchecked: the daemon is made in `init` and stopped in `stop`, which is called once; libmicrohttpd is made for threads.
@safe
final class UploadServer: @unchecked Sendable {
    /// What is the same for all uploads.
    struct Settings: Sendable {
        let address: ListenAddress
        let inbox: Inbox
        let rules: BodyReceiver.Rules
        let visitors: RequestGuard
        let connections: Int
    }

    /// What came of an upload.
    enum Outcome: Sendable {
        case stored([(part: PartRecord, path: String?)])
        case refused(status: Int, reason: String)
        /// The client went away.
        case aborted
    }

    let settings: Settings
    private let report: @Sendable (Outcome) -> Void
    private var daemon: OpaquePointer?

    /// The bytes of a connection's buffers: some of the blocks that files are written in, and not too much for the
    /// processor's cache.
    private static let connectionMemory = 512 * 1024
    /// How long nothing may come from a client.
    private static let idleSeconds: UInt32 = 60

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - settings: Where, and what becomes of uploads.
    ///   - report: Is told of each upload's outcome once it is answered, on the connection's thread.
    /// - Throws: Where the address cannot be listened on.
    init(_ settings: Settings, report: @escaping @Sendable (Outcome) -> Void) throws(ToolError) {
        self.settings = settings
        self.report = report
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe daemon = settings.address.withSocketAddress { address in
            let options = unsafe sluice_mhd_options(
                address: address,
                memory: Self.connectionMemory,
                connections: UInt32(settings.connections),
                timeout: Self.idleSeconds
            )
            return unsafe sluice_mhd_start(options, UploadServer.access, UploadServer.completed, context)
        }
        guard unsafe daemon != nil else {
            throw .system(
                .unavailable,
                settings.address.url(port: settings.address.port),
                "cannot be listened on",
                errno
            )
        }
    }

    /// The port that it listens on.
    var port: UInt16 {
        guard let daemon = unsafe daemon else { return 0 }
        return unsafe sluice_mhd_port(daemon)
    }

    /// Ends all connections, and waits for their threads.
    ///
    /// Whoever started the server stops it, once.
    func stop() {
        guard let daemon = unsafe daemon else { return }
        unsafe self.daemon = nil
        unsafe MHD_stop_daemon(daemon)
    }

    // MARK: Callbacks

    /// Called with a request's head, with each piece of its body, and at its end.
    private static let access: MHD_AccessHandlerCallback = {
        context,
        connection,
        url,
        method,
        version,
        data,
        size,
        state in
        guard let context = unsafe context, let connection = unsafe connection, let size = unsafe size,
            let state = unsafe state
        else { return .NO }
        if let exchange = unsafe state.pointee {
            let exchange = unsafe Unmanaged<Exchange>.fromOpaque(exchange).takeUnretainedValue()
            guard unsafe size.pointee > 0 else { return unsafe exchange.finish(connection) ? .YES : .NO }
            let bytes = unsafe UnsafeRawBufferPointer(start: data, count: size.pointee)
            guard let count = unsafe exchange.take(bytes, connection) else { return .NO }
            unsafe size.pointee -= count
            return .YES
        }
        let server = unsafe Unmanaged<UploadServer>.fromOpaque(context).takeUnretainedValue()
        let exchange = Exchange(server.settings)
        unsafe state.pointee = Unmanaged.passRetained(exchange).toOpaque()
        guard let method = unsafe method, let url = unsafe url, let version = unsafe version else { return .NO }
        return unsafe exchange.begin(
            String(cString: method),
            String(cString: url),
            String(cString: version),
            connection
        ) ? .YES : .NO
    }

    /// Called when a request was answered, or will not be.
    private static let completed: MHD_RequestCompletedCallback = { context, _, state, _ in
        guard let context = unsafe context, let pointer = unsafe state?.pointee else { return }
        unsafe state?.pointee = nil
        let exchange = unsafe Unmanaged<Exchange>.fromOpaque(pointer).takeRetainedValue()
        let server = unsafe Unmanaged<UploadServer>.fromOpaque(context).takeUnretainedValue()
        if let outcome = exchange.close() { server.report(outcome) }
    }
}
