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
        var rest = unsafe bytes
        while unsafe !rest.isEmpty {
            #if canImport(Glibc)
            let count = unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
            #elseif canImport(Musl)
            let count = unsafe Musl.write(descriptor, rest.baseAddress, rest.count)
            #elseif canImport(Darwin)
            let count = unsafe Darwin.write(descriptor, rest.baseAddress, rest.count)
            #endif
            if count >= 0 {
                unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if errno == EAGAIN {
                var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&entry, 1, -1)
            } else if errno != EINTR {
                throw Errno(errno)
            }
        }
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
            #if canImport(Glibc)
            let count = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            #elseif canImport(Musl)
            let count = unsafe Musl.read(descriptor, buffer.baseAddress, buffer.count)
            #elseif canImport(Darwin)
            let count = unsafe Darwin.read(descriptor, buffer.baseAddress, buffer.count)
            #endif
            if count >= 0 { return count }
            if errno == EAGAIN {
                var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                _ = unsafe poll(&entry, 1, -1)
            } else if errno != EINTR {
                throw Errno(errno)
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
        #if canImport(Glibc)
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
        #elseif canImport(Musl)
        let descriptor = unsafe Musl.open(path, O_RDONLY | O_CLOEXEC)
        #elseif canImport(Darwin)
        let descriptor = unsafe Darwin.open(path, O_RDONLY | O_CLOEXEC)
        #endif
        guard descriptor >= 0 else { throw .system(.noInput, path, "cannot be opened", errno) }
        return descriptor
    }
}
