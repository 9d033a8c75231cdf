/// How many bytes a ``MultipartBody/write(to:interrupt:progress:)`` moved, and by which way.
public struct WriteReport: Sendable, Hashable {
    /// A way of moving bytes to a descriptor.
    public enum Method: String, Sendable, CaseIterable, CustomStringConvertible {
        /// From file to file inside the kernel, sharing blocks where the file system can.
        case copyFileRange
        /// From the page cache to a socket, pipe or file inside the kernel.
        case sendFile
        /// From a file to anything, or from a pipe to anything, by moving pages.
        case splice
        /// From memory, many pieces in one call: headers, delimiters and parts that are in memory.
        case gather
        /// Through a buffer, where the kernel has no way or the source makes its bytes as it goes.
        case readWrite

        /// The way's name, as in `splice`.
        public var description: String { rawValue }
    }

    /// The bytes moved by each way that was taken.
    public private(set) var bytesByMethod: [Method: Int64] = [:]

    /// The bytes moved in all.
    public private(set) var bytes: Int64 = 0

    mutating func add(_ count: Int, _ method: Method) {
        bytes += Int64(count)
        bytesByMethod[method, default: 0] += Int64(count)
    }
}
