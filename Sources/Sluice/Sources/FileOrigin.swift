/// How a file is found: by its path, or by a descriptor that is open already.
enum FileOrigin: Sendable {
    case path(String)
    case descriptor(SharedDescriptor)

    var path: String? {
        if case .path(let path) = self { path } else { nil }
    }

    func status() throws(Errno) -> FileStatus {
        switch self {
        case .path(let path): try SystemCalls.status(ofPath: path)
        case .descriptor(let shared): try SystemCalls.status(of: shared.rawValue)
        }
    }

    /// Opens the path, or hands on the descriptor that is open.
    func open() throws(Errno) -> SharedDescriptor {
        switch self {
        case .path(let path): SharedDescriptor(try SystemCalls.openForReading(path), .owned)
        case .descriptor(let shared): shared
        }
    }

    func withDescriptor<Result>(_ body: (Int32) throws(Errno) -> Result) throws(Errno) -> Result {
        let descriptor = try open()
        defer { withExtendedLifetime(descriptor) {} }
        return try body(descriptor.rawValue)
    }
}
