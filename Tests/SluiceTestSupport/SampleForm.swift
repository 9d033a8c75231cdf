package import Sluice

/// A small form with a part of each kind of source, and what it must look like.
package struct SampleForm {
    package let form: MultipartForm
    package let expected: [UInt8]

    /// - Parameter isLengthKnown: Whether all sources know their length; else some of each kind do not.
    /// - Throws: Where its files cannot be made.
    package init(isLengthKnown: Bool) throws {
        let directory = try TemporaryDirectory()
        let path = try directory.file("f", Array("0123456789".utf8))
        let empty = try directory.file("empty", [])
        let made = Array("generated".utf8)
        let chunks = chunked(Array("awaited".utf8), [3, 1])
        func length(_ bytes: some Collection) -> Int64? { isLengthKnown ? Int64(bytes.count) : nil }

        let inner = try MultipartForm(subtype: .mixed, boundary: Boundary("in")) {
            Self.part(file: FileSource(path: path, range: 2..<7))
            Self.part(bytes: [])
        }
        form = try MultipartForm(subtype: .mixed, boundary: Boundary("b")) {
            Self.part(bytes: Array("memory".utf8))
            Self.part(file: FileSource(path: path))
            Self.part(file: FileSource(path: empty))
            Self.part(
                source: .restartable(knownLength: length(made)) {
                    // Whoever has the form, or a body of it, has its files as well.
                    withExtendedLifetime(directory) { generator(of: made, step: 4) }
                }
            )
            Part(
                disposition: nil,
                mediaType: nil,
                source: .restartable(knownLength: isLengthKnown ? 7 : nil) { stream(of: chunks) } as AsyncSource
            )
            Part(disposition: nil, form: inner)
            Self.part(source: ScriptedSource(made, knownLength: 9, replay: .seekable, mayBlock: false, step: 2))
            Self.part(source: ScriptedSource(made, knownLength: length(made), replay: .seekable, step: 2))
        }
        let nested: [ReferencePart] = [Self.plain("23456"), Self.plain("")]
        let type = Array("multipart/mixed; boundary=in".utf8)
        expected = ReferenceEncoder.encode(
            boundary: "b",
            [
                Self.plain("memory"), Self.plain("0123456789"), Self.plain(""), Self.plain("generated"),
                Self.plain("awaited"),
                ReferencePart(headers: [("Content-Type", type)], content: .nested(boundary: "in", nested)),
                Self.plain("generated"), Self.plain("generated"),
            ]
        )
    }

    private static func plain(_ text: String) -> ReferencePart {
        ReferencePart(headers: [], content: .bytes(Array(text.utf8)))
    }

    private static func part(bytes: [UInt8]) -> Part { Part(disposition: nil, mediaType: nil, bytes: bytes) }
    private static func part(file: FileSource) -> Part { Part(disposition: nil, mediaType: nil, file: file) }
    private static func part(source: GeneratorSource) -> Part { Part(disposition: nil, mediaType: nil, source: source) }
    private static func part(source: ScriptedSource) -> Part { Part(disposition: nil, mediaType: nil, source: source) }
}
