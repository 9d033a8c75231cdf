public import Foundation
public import Sluice

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

extension FileSource {
    /// A file by its URL, opened only while it is read.
    ///
    /// - Parameters:
    ///   - url: A `file:` URL.
    ///   - range: The bytes of the file to send, from 0; all of it where nil.
    ///   - changePolicy: What may happen to the file meanwhile.
    /// - Throws: `MultipartError` with the code `notReadable` for a URL that is not a file's. That the file is missing
    ///   shows when the form's body is made.
    public init(
        url: URL,
        range: Range<Int64>? = nil,
        changePolicy: ChangePolicy = .snapshot
    ) throws(MultipartError) {
        guard url.isFileURL else {
            throw MultipartError(
                .notReadable,
                "the URL \(url.absoluteString) is not a file's; download it, and give the file or its bytes"
            )
        }
        self.init(path: url.path, range: range, changePolicy: changePolicy)
    }

    /// What a `FileHandle` is open for.
    ///
    /// The source has a duplicate of the handle's descriptor, so the handle may be closed or released afterwards. The
    /// two share one offset: a regular file is sent from where the handle stands when the form's body is made, or
    /// from the range's start, and sending it does not move the handle. A pipe or socket is read to its end.
    ///
    /// - Parameters:
    ///   - fileHandle: A handle open for reading.
    ///   - range: The bytes of the file to send, from 0; from the handle's offset to the end where nil.
    ///   - changePolicy: What may happen to the file meanwhile.
    /// - Throws: `MultipartError` with the code `openFailed` for a handle that is closed or has no descriptor, such as
    ///   the null device on Linux, and where the process has no descriptor left.
    public init(
        fileHandle: FileHandle,
        range: Range<Int64>? = nil,
        changePolicy: ChangePolicy = .snapshot
    ) throws(MultipartError) {
        let descriptor = fcntl(fileHandle.fileDescriptor, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else {
            throw MultipartError(
                .openFailed,
                "the file handle has no descriptor that could be duplicated; keep it open until the source is made",
                errno: errno
            )
        }
        self.init(descriptor: descriptor, ownership: .owned, range: range, changePolicy: changePolicy)
    }
}

extension Part {
    /// A file by its URL, opened when its turn comes.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - url: A `file:` URL.
    ///   - filename: The name that the receiver is told; the path's last component where nil.
    ///   - mediaType: The type; by the filename's extension where nil.
    ///   - headers: Further header fields.
    /// - Returns: The part.
    /// - Throws: `MultipartError` with the code `notReadable` for a URL that is not a file's.
    public static func file(
        _ name: String,
        url: URL,
        filename: String? = nil,
        mediaType: MediaType? = nil,
        headers: [HeaderField] = []
    ) throws(MultipartError) -> Part {
        file(name, try FileSource(url: url), filename: filename, mediaType: mediaType, headers: headers)
    }
}

extension MultipartForm {
    /// Adds a file by its URL, which is opened when its turn to be sent comes.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - url: A `file:` URL.
    ///   - filename: The name that the receiver is told; the path's last component where nil.
    ///   - mimeType: The type; by the filename's extension where nil.
    /// - Throws: `MultipartError` with the code `notReadable` for a URL that is not a file's, `invalidName` for a NUL in
    ///   the name or filename, and `invalidMediaType` where `mimeType` is not a media type.
    public mutating func addFile(
        name: String,
        url: URL,
        filename: String? = nil,
        mimeType: String? = nil
    ) throws(MultipartError) {
        let mediaType = try MediaType(ifGiven: mimeType)
        try append(.file(name, url: url, filename: filename, mediaType: mediaType))
    }
}
