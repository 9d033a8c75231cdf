/// What a body consists of, fixed once: segments in order, with their offsets where they are known.
///
/// Nested forms are flattened, so that a seek into them is the same binary search as any other.
final class BodyLayout: Sendable {
    /// A run of the body's bytes.
    struct Segment: Sendable {
        enum Kind: Sendable {
            /// Bytes of ``BodyLayout/rendered``, from this index on: delimiters and headers.
            case rendered(Int)
            /// A part's content.
            case content(Content)
        }

        /// Where the segment starts in the body; nil behind a segment of unknown length.
        let start: Int64?
        /// The number of bytes, where it is known.
        let length: Int64?
        /// The number of bytes before compression, where it is known; for others the length.
        let sourceLength: Int64?
        /// The index in ``BodyLayout/labels`` of the part it belongs to; nil for the close-delimiter.
        let part: Int?
        let kind: Kind

        /// By how many bytes more than `offset` the source was read for what comes before it, where both lengths are
        /// known: in proportion.
        func sourceSurplus(at offset: Int64) -> Int64 {
            guard let length, let sourceLength, length != sourceLength, length > 0 else { return 0 }
            return Int64(Double(sourceLength) * (Double(offset) / Double(length))) - offset
        }
    }

    let contentType: String
    let segments: [Segment]
    /// All delimiters and headers, one behind the other.
    let rendered: [UInt8]
    /// The parts that have content of their own, in order, those of nested forms among them.
    let labels: [MultipartError.PartLabel]
    /// The sum of the segments' lengths, where all are known.
    let contentLength: Int64?
    let replay: Replay
    let mayBlock: Bool
    /// Whether a part is compressed, so that there are other bytes to count than the body's.
    let isCompressed: Bool

    /// - Parameters:
    ///   - form: What to send.
    ///   - enclosing: The descriptions of the parts around it, outermost first.
    ///   - interrupt: Ends reads of parts that are compressed before.
    /// - Throws: ``MultipartError`` naming the part.
    init(
        _ form: MultipartForm,
        enclosing: [String] = [],
        interrupt: ReadInterrupt? = nil
    ) throws(MultipartError) {
        var builder = LayoutBuilder(interrupt: interrupt)
        try builder.add(form, enclosing: enclosing, outerBoundaries: [], searched: [])
        try builder.endRun(part: nil)
        contentType = form.contentType
        segments = builder.segments
        rendered = builder.rendered
        labels = builder.labels
        contentLength = builder.offset
        replay = builder.replay
        mayBlock = builder.mayBlock
        isCompressed = builder.isCompressed
    }

    /// The bytes of the body with each compressed part at its length before compression, where all of these are known.
    var sourceLength: Int64? {
        segments.reduce(0) { (sum: Int64?, segment) in
            guard let sum, let length = segment.sourceLength else { return nil }
            let (total, isTooLong) = sum.addingReportingOverflow(length)
            return isTooLong ? nil : total
        }
    }

    /// By how many bytes the sources of the segments before this one are longer than the segments, as far as known.
    func sourceSurplus(before index: Int) -> Int64 {
        guard isCompressed else { return 0 }
        return segments[..<index].reduce(0) { $0 + $1.sourceSurplus(at: $1.length ?? 0) }
    }

    /// The segment that holds the byte at `offset`, or the last one whose start is known before it.
    ///
    /// - Complexity: O(log n) in the number of segments.
    func segmentIndex(at offset: Int64) -> Int {
        var low = 0
        var high = segments.count
        while low < high {
            let middle = (low + high) / 2
            if let start = segments[middle].start, start <= offset {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return max(low - 1, 0)
    }
}

/// Renders a form's heads and lines the segments up.
private struct LayoutBuilder {
    let interrupt: ReadInterrupt?
    private(set) var segments: [BodyLayout.Segment] = []
    private(set) var rendered: [UInt8] = []
    private(set) var labels: [MultipartError.PartLabel] = []
    /// The length so far, while it is known.
    private(set) var offset: Int64? = 0
    private(set) var replay = Replay.seekable
    private(set) var mayBlock = false
    private(set) var isCompressed = false
    /// Where the rendered bytes begin that are not yet a segment.
    private var runStart = 0

    /// As many levels as any receiver is known to take (curl's own limit is 40).
    private static let deepestNesting = 40

    init(interrupt: ReadInterrupt?) {
        self.interrupt = interrupt
    }

    mutating func add(
        _ form: MultipartForm,
        enclosing: [String],
        outerBoundaries: [String],
        searched: [String]
    ) throws(MultipartError) {
        let boundary = form.boundary.description
        // A form that asks for the search has its delimiter searched for in the forms nested in it as well.
        let searched = form.checksMemoryForBoundary ? outerBoundaries + [boundary] : searched
        guard enclosing.count < Self.deepestNesting else {
            throw MultipartError(.nestingTooDeep, "forms are nested more than \(Self.deepestNesting) deep")
        }
        guard !outerBoundaries.contains(where: { boundary.hasPrefix($0) }) else {
            throw MultipartError(
                .boundaryConflict,
                "the nested form's boundary \"\(boundary)\" begins with an outer form's; give it another one"
            )
        }
        for (index, part) in form.parts.enumerated() {
            let label = MultipartError.PartLabel(index: index, name: part.disposition?.name, enclosing: enclosing)
            do {
                render(index == 0 ? "--\(boundary)\r\n" : "\r\n--\(boundary)\r\n")
                try renderHead(of: part, escaping: form.escaping)
                if case .form(let nested) = part.origin {
                    try add(
                        nested,
                        enclosing: enclosing + [label.ownDescription],
                        outerBoundaries: outerBoundaries + [boundary],
                        searched: searched
                    )
                } else {
                    let resolver = ContentResolver(
                        escaping: form.escaping,
                        enclosing: enclosing + [label.ownDescription],
                        interrupt: interrupt
                    )
                    let resolved = try resolver.resolve(part.origin)
                    try check(resolved.content, for: searched)
                    labels.append(label)
                    try endRun(part: labels.count - 1)
                    try append(resolved, part: labels.count - 1)
                }
            } catch {
                throw error.inPart(label)
            }
        }
        render(form.parts.isEmpty ? "--\(boundary)--\r\n" : "\r\n--\(boundary)--\r\n")
    }

    /// Makes a segment of what was rendered since the last one.
    mutating func endRun(part: Int?) throws(MultipartError) {
        let length = Int64(rendered.count - runStart)
        guard length > 0 else { return }
        segments.append(
            .init(start: offset, length: length, sourceLength: length, part: part, kind: .rendered(runStart))
        )
        try advance(by: length)
        runStart = rendered.count
    }

    private mutating func append(_ resolved: ContentResolver.Resolved, part: Int) throws(MultipartError) {
        let content = resolved.content
        let length = content.knownLength
        segments.append(
            .init(
                start: offset,
                length: length,
                sourceLength: resolved.sourceLength,
                part: part,
                kind: .content(content)
            )
        )
        try advance(by: length)
        isCompressed = isCompressed || resolved.isCompressed
        replay = min(replay, content.replay)
        mayBlock = mayBlock || content.mayBlock
    }

    private mutating func advance(by length: Int64?) throws(MultipartError) {
        guard let before = offset, let length else {
            offset = nil
            return
        }
        let (sum, isTooLong) = before.addingReportingOverflow(length)
        if isTooLong {
            throw MultipartError(.lengthMismatch, "the lengths of the parts add up to more than 2^63 bytes")
        }
        offset = sum
    }

    private mutating func render(_ text: String) {
        rendered.append(contentsOf: text.utf8)
    }

    /// RFC 7578 section 4.2 and 4.8: the disposition, the type where there is one, and what the caller asked for.
    private mutating func renderHead(of part: Part, escaping: NameEscaping) throws(MultipartError) {
        if let disposition = part.disposition {
            render("Content-Disposition: \(try disposition.headerValue(escaping))\r\n")
        }
        if let mediaType = part.resolvedMediaType { render("Content-Type: \(mediaType)\r\n") }
        for header in part.headers { render("\(header.name): \(header.value)\r\n") }
        render("\r\n")
    }

    /// RFC 7578 section 4.1: the delimiter must not occur in a part.
    private func check(_ content: Content, for boundaries: [String]) throws(MultipartError) {
        guard case .memory(let bytes) = content else { return }
        for boundary in boundaries {
            // At the content's very start the head's CRLF is the delimiter's.
            let atStart = Array("--\(boundary)".utf8)
            let delimiter = Array("\r\n--\(boundary)".utf8)
            let isFound = unsafe bytes.withBytes { content in
                unsafe content.starts(with: atStart) || SystemCalls.contains(delimiter, in: content)
            }
            if isFound {
                throw MultipartError(
                    .boundaryConflict,
                    "the content holds the delimiter of the boundary \"\(boundary)\"; use a random boundary"
                )
            }
        }
    }
}
