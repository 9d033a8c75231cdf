/// Finds out everything about a part's content that is to be known before it is read.
struct ContentResolver {
    /// A content, and what it is made of.
    struct Resolved {
        let content: Content
        /// The bytes before compression, where known.
        let sourceLength: Int64?
        let isCompressed: Bool

        init(_ content: Content) {
            self.content = content
            sourceLength = content.knownLength
            isCompressed = false
        }

        init(compressed content: Content, sourceLength: Int64?) {
            self.content = content
            self.sourceLength = sourceLength
            isCompressed = true
        }
    }

    let escaping: NameEscaping
    /// The descriptions of the part and of those around it, for a form within.
    let enclosing: [String]
    /// Ends reads of what is to be compressed before.
    let interrupt: ReadInterrupt?

    /// Looks at files; compresses what is to be compressed before it is sent.
    func resolve(_ origin: Part.Origin) throws(MultipartError) -> Resolved {
        switch origin {
        case .text(let text):
            let value = if case .html = escaping { NameEscaping.normalisingNewlines(text) } else { text }
            return Resolved(.memory(HeldBytes(value)))
        case .bytes(let bytes):
            return Resolved(.memory(bytes))
        case .file(let file):
            return Resolved(try file.resolve())
        case .source(let source):
            if let length = source.knownLength, length < 0 {
                throw MultipartError(.lengthMismatch, "the source declares a negative length, \(length)")
            }
            return Resolved(.source(source))
        case .async(let source):
            if let length = source.knownLength, length < 0 {
                throw MultipartError(.lengthMismatch, "the sequence declares a negative length, \(length)")
            }
            return Resolved(.async(source))
        case .form(let form):
            return Resolved(.stream(try FormSource(form, enclosing: enclosing, interrupt: interrupt)))
        case .gzip(let inner, let compression):
            return try compress(try resolve(inner), compression)
        }
    }

    private func compress(
        _ inner: Resolved,
        _ compression: Part.Compression
    ) throws(MultipartError) -> Resolved {
        let source = GzipContent(inner.content, compression.settings)
        switch compression.length {
        case .unknown:
            return Resolved(compressed: .gzip(source), sourceLength: source.sourceLength)
        case .measured:
            let measured = try source.measured(interrupt: interrupt)
            return Resolved(compressed: .gzip(measured), sourceLength: measured.sourceLength)
        case .spooled(let memoryLimit):
            let spooled = try GzipSpool.content(of: source, memoryLimit: memoryLimit, interrupt: interrupt)
            return Resolved(compressed: spooled.content, sourceLength: spooled.sourceLength)
        }
    }
}
