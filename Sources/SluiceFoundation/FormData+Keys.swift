public import Foundation

/// The same form for code that speaks of keys.
extension FormData {
    /// Adds a text field.
    ///
    /// - Parameters:
    ///   - key: The field's name; any text.
    ///   - value: The value, sent as UTF-8, each newline as CRLF.
    public mutating func add(key: String, value: String) {
        addField(name: key, value: value)
    }

    /// Adds a file.
    ///
    /// - Parameters:
    ///   - key: The field's name; any text.
    ///   - fileName: The name that the receiver is told; any text.
    ///   - fileMimeType: The file's type. One that is not `type/subtype` is sent as `application/octet-stream`, and
    ///     ``problems`` has the reason.
    ///   - fileData: The file's bytes, held and not copied.
    public mutating func add(key: String, fileName: String, fileMimeType: String, fileData: Data) {
        addFile(name: key, filename: fileName, mimeType: fileMimeType, data: fileData)
    }

    /// The value of the Content-Type header that goes with the body; ``contentType`` by another name.
    public var httpContentTypeHeaderValue: String { contentType }

    /// ``httpContentTypeHeaderValue``, spelled as most of the code around spells it.
    public var httpContentTypeHeadeValue: String { contentType }

    /// The body in memory, made anew each time; ``encode()`` by another name.
    public var httpBody: Data { encode() }
}
