package import Sluice

/// A body of a single part without headers, for tests of what is in the part.
package enum OnePart {
    /// The bytes before the content.
    package static let head = Array("--b\r\n\r\n".utf8)
    /// The bytes behind the content.
    package static let tail = Array("\r\n--b--\r\n".utf8)

    package static func body(_ part: Part) throws -> MultipartBody {
        var form = MultipartForm(subtype: .mixed, boundary: try Boundary("b"))
        try form.append(part)
        return try form.body()
    }

    package static func body(_ file: FileSource) throws -> MultipartBody {
        try body(Part(disposition: nil, mediaType: nil, file: file))
    }

    package static func body(_ source: some ByteSource) throws -> MultipartBody {
        try body(Part(disposition: nil, mediaType: nil, source: source))
    }

    package static func body(_ source: AsyncSource) throws -> MultipartBody {
        try body(Part(disposition: nil, mediaType: nil, source: source))
    }

    /// The whole body for some content.
    package static func framed(_ content: [UInt8]) -> [UInt8] { head + content + tail }
}
