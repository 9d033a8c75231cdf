public import Foundation
public import Sluice

extension Part {
    /// A file whose bytes are a `Data`, held and not copied.
    ///
    /// The part shares the data's memory. Changing your own variable afterwards changes nothing in the part, and costs
    /// you the copy.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - data: The file's bytes.
    ///   - filename: The name that the receiver is told.
    ///   - mediaType: The type; by the filename's extension where nil.
    ///   - headers: Further header fields.
    /// - Returns: The part.
    public static func file(
        _ name: String,
        data: Data,
        filename: String,
        mediaType: MediaType? = nil,
        headers: [HeaderField] = []
    ) -> Part {
        file(name, filename, mediaType, headers, held: HeldBytes(data))
    }
}

extension MultipartForm {
    /// Adds a file whose bytes are a `Data`, held and not copied.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - filename: The name that the receiver is told.
    ///   - mimeType: The type; by the filename's extension where nil.
    ///   - data: The file's bytes.
    /// - Throws: `MultipartError` with the code `invalidName` for a NUL in the name or filename, and with
    ///   `invalidMediaType` where `mimeType` is not a media type.
    public mutating func addFile(
        name: String,
        filename: String,
        mimeType: String? = nil,
        data: Data
    ) throws(MultipartError) {
        let mediaType = try MediaType(ifGiven: mimeType)
        try append(.file(name, data: data, filename: filename, mediaType: mediaType))
    }
}
