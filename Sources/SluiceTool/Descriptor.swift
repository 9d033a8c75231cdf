import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The few things that the tool does with descriptors itself.
enum Descriptor {
    static let standardInput: Int32 = 0
    static let standardOutput: Int32 = 1
    static let standardError: Int32 = 2

    static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// Writes all of the bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - descriptor: A descriptor open for writing.
    /// - Throws: The system's error.
    static func write(_ bytes: [UInt8], to descriptor: Int32) throws(Errno) {
        let result = unsafe bytes.withUnsafeBytes { bytes in
            Result { () throws(Errno) in try unsafe write(bytes, to: descriptor) }
        }
        try result.get()
    }

    /// Writes all of the bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, lent for the call.
    ///   - descriptor: A descriptor open for writing.
    /// - Throws: The system's error.
    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(Errno) {
        try unsafe SystemCalls.writeAll(bytes, to: descriptor, waitingForRoom: true)
    }

    /// Reads once.
    ///
    /// - Parameters:
    ///   - descriptor: A descriptor open for reading.
    ///   - buffer: Where to put the bytes.
    /// - Returns: How many there were; 0 at the end.
    /// - Throws: The system's error.
    static func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        while true {
            do throws(Errno) {
                return try unsafe SystemCalls.read(descriptor, into: buffer)
            } catch {
                guard error == .wouldBlock else { throw error }
                var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                _ = unsafe poll(&entry, 1, -1)
            }
        }
    }

    /// Reads up to `limit` bytes, or to the end if that comes first.
    static func read(_ descriptor: Int32, limit: Int) throws(Errno) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: min(limit, 16 * 1024))
        while bytes.count < limit {
            let wanted = min(piece.count, limit - bytes.count)
            let result = unsafe piece.withUnsafeMutableBytes { buffer in
                Result { () throws(Errno) in
                    try unsafe read(descriptor, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]))
                }
            }
            let count = try result.get()
            if count == 0 { break }
            bytes += piece[..<count]
        }
        return bytes
    }

    /// A small file's content.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - limit: The most bytes that it may have.
    /// - Returns: Its bytes.
    /// - Throws: Where it cannot be read, or is longer.
    static func contents(of path: String, limit: Int) throws(ToolError) -> [UInt8] {
        let descriptor = try open(path)
        defer { close(descriptor) }
        let bytes: [UInt8]
        do {
            bytes = try read(descriptor, limit: limit + 1)
        } catch {
            throw .system(.noInput, path, "cannot be read", error.rawValue)
        }
        guard bytes.count <= limit else {
            throw ToolError(.badData, "\(printable(path)): is longer than \(limit) bytes")
        }
        return bytes
    }

    /// Makes sure that a file can be read by those who are to read it later.
    ///
    /// - Parameter path: The file.
    /// - Throws: Where it cannot be opened.
    static func checkReadable(_ path: String) throws(ToolError) {
        close(try open(path))
    }

    /// Makes sure that a file may be read, without opening it: opening a pipe would be noticed at its other end.
    ///
    /// - Parameter path: The file.
    /// - Throws: The error that opening it would give.
    static func checkPermission(_ path: String) throws(MultipartError) {
        guard unsafe access(path, R_OK) != 0 else { return }
        throw MultipartError(.openFailed, "cannot be read; check its permissions", path: path, errno: errno)
    }

    /// Whether something is there that cannot be replaced by a file, and can be written to.
    ///
    /// - Parameter path: Its path.
    /// - Returns: False for files, directories and nothing.
    static func isPipeOrDevice(_ path: String) -> Bool {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return false }
        return ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
    }

    /// Opens a file for reading.
    ///
    /// - Parameter path: The file.
    /// - Returns: Its descriptor, to be closed by the caller.
    /// - Throws: Where it cannot be opened.
    static func open(_ path: String) throws(ToolError) -> Int32 {
        do {
            return try SystemCalls.retrying { unsafe openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC) }
        } catch {
            throw .system(.noInput, path, "cannot be opened", error.rawValue)
        }
    }
}
