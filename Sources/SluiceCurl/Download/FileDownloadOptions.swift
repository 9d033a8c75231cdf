internal import Sluice

/// How a download becomes a file.
public struct FileDownloadOptions: Sendable, Hashable {
    /// Whether a download that breaks off is left beside the target, and the next one to the same target goes on with it.
    ///
    /// Otherwise what came is removed, and nothing that was left before is looked at.
    public var resumes = true
    /// Whether the whole file is asked for, whatever an earlier download left behind.
    ///
    /// That is thrown away once the server sends the file, and not before.
    public var startsOver = false
    /// The SHA-256 that the whole file must have: 64 hexadecimal digits; nil for any.
    public var sha256: String?
    /// The CRC-32 that the whole file must have, as gzip and zip compute it; nil for any.
    public var crc32: UInt32?
    /// The bytes that the whole file must have; nil for as many as the server says.
    public var length: Int64?
    /// Whether the file and its directory are on the disk, and not only in the system's memory, before the download is
    /// complete: it then outlives a loss of power.
    ///
    /// The directory can only be brought there once the file has its name. Where the disk refuses that, the error
    /// (``TransferError/Code/fileFailed``) says that the new file is in its place all the same.
    public var synchronizes = false

    /// Resumes, and checks what the server says of the length.
    public init() {}

    /// What makes the options senseless; nil where they make sense.
    var flaw: String? {
        if let length, length < 0 { return "the length of the file is negative" }
        if let sha256, SHA256.Digest(hexadecimal: sha256) == nil {
            return "\"\(printable(sha256))\" is no SHA-256: 64 hexadecimal digits"
        }
        return nil
    }
}

/// A file that was downloaded.
public struct DownloadedFile: Sendable {
    /// Where it is: the path that was asked for, or what it leads to where that is a symbolic link.
    public let path: String
    /// Its bytes.
    public let byteCount: Int64
    /// How many of its bytes an earlier download had left behind; 0 where all of them came now.
    public let resumedBytes: Int64
    /// The server's answer, whose body is the file and not in it.
    public let response: CurlResponse
}
