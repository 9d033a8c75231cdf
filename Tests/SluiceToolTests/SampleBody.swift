/// Bodies as RFC 7578 has them, written out by hand.
enum SampleBody {
    static let boundary = "B"

    /// A part's lines: its headers, and its content.
    static func part(_ headers: String..., content: String = "content") -> String {
        "--B\r\n" + headers.map { "\($0)\r\n" }.joined() + "\r\n\(content)\r\n"
    }

    /// A file of a form.
    static func file(_ filename: String, _ content: String = "content", name: String = "f") -> String {
        part("Content-Disposition: form-data; name=\"\(name)\"; filename=\"\(filename)\"", content: content)
    }

    /// A field of a form.
    static func field(_ name: String, _ value: String) -> String {
        part("Content-Disposition: form-data; name=\"\(name)\"", content: value)
    }

    /// A body of these parts.
    static func body(_ parts: String...) -> [UInt8] {
        Array((parts.joined() + "--B--\r\n").utf8)
    }
}
