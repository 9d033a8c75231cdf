/// Cuts a body that comes in chunks at its delimiters, without keeping any byte of it.
///
/// A delimiter is CR LF `--boundary`, and where lines may end in LF alone, LF `--boundary`. Its line break occurs in it
/// only at its start. So of a chunk's end only one position can begin a delimiter, the last line break; what is held
/// back for it is the beginning of the delimiter itself, and a number says how much; and where the next chunk goes on
/// differently, nothing of what was held can be the start of another one.
struct DelimiterScanner: Sendable {
    /// What comes next.
    enum Piece: Equatable {
        /// Content: these bytes of the chunk.
        case body(Range<Int>)
        /// Content that was held back: these bytes of ``delimiter``.
        case held(Range<Int>)
        /// A delimiter, which may yet turn out to go on.
        case delimiter
    }

    /// CR LF, two hyphens, the boundary.
    let delimiter: ContiguousArray<UInt8>
    private let search: DelimiterSearch
    /// Where in `delimiter` the needle begins: 0, or 1 where LF alone ends lines.
    private let lead: Int

    /// How much of the delimiter was seen.
    private var matched = 0
    /// Where in the delimiter the bytes begin that were held back for it.
    private var heldFrom = 0
    /// Where in the delimiter that was found last the body's bytes begin, which are content if it turns out to be none:
    /// its line break may be LF alone, or belong to the headers before it.
    private(set) var foundFrom = 0

    /// The bytes that were looked at, and the comparisons that the search did: the work, for tests of its bound.
    private(set) var work = 0

    init(_ boundary: Boundary, lineEnds: ParserPolicies.LineEnds) {
        delimiter = ContiguousArray("\r\n--\(boundary)".utf8)
        lead = lineEnds == .crlf ? 0 : 1
        search = DelimiterSearch(ContiguousArray(delimiter[lead...]), boundaryCount: delimiter.count - 4)
    }

    /// The bytes that are held back, of those that were given.
    var heldCount: Int { max(matched - heldFrom, 0) }

    /// Takes a line break as seen, which is not content: the one before the content, at which a delimiter may begin, too.
    mutating func beginLine() {
        matched = 2
        heldFrom = 2
    }

    /// The next piece of the chunk.
    ///
    /// - Parameters:
    ///   - bytes: The chunk.
    ///   - cursor: Where to go on in it; moved behind the piece.
    ///   - end: Where the chunk ends.
    /// - Returns: The piece, or nil where the chunk has no more.
    @inline(__always)
    mutating func next(in bytes: Span<UInt8>, from cursor: inout Int, to end: Int) -> Piece? {
        if matched > 0 {
            if let piece = resume(bytes, &cursor, end) { return piece }
            if matched > 0 { return nil }
        }
        guard cursor < end else { return nil }
        let start = cursor
        work &+= end &- start
        if let found = search.first(in: bytes, start..<end, comparisons: &work) {
            work &-= end &- found
            var bodyEnd = found
            if lead == 1, found > start, bytes[found - 1] == 0x0D { bodyEnd -= 1 }
            foundFrom = lead - (found - bodyEnd)
            cursor = found + delimiter.count - lead
            if bodyEnd == start { return .delimiter }
            // The delimiter is due, and none of it is held back: its last byte lies in this chunk.
            matched = delimiter.count
            heldFrom = matched
            return .body(start..<bodyEnd)
        }
        let bodyEnd = holdBack(bytes, start, end)
        cursor = end
        return bodyEnd > start ? .body(start..<bodyEnd) : nil
    }

    /// Goes on with a delimiter whose beginning was seen.
    ///
    /// - Returns: What became of it; nil where the chunk ends first, and where nothing is held of one that it was not.
    private mutating func resume(_ bytes: Span<UInt8>, _ cursor: inout Int, _ end: Int) -> Piece? {
        var index = cursor
        if matched < delimiter.count { foundFrom = heldFrom }
        while matched < delimiter.count {
            guard index < end else {
                cursor = end
                return nil
            }
            work &+= 1
            guard bytes[index] == delimiter[matched] else {
                // What was compared here is content of this chunk, and is scanned as such.
                matched -= index - cursor
                let held = heldFrom..<matched
                matched = 0
                return held.isEmpty ? nil : .held(held)
            }
            matched += 1
            index += 1
        }
        cursor = index
        matched = 0
        return .delimiter
    }

    /// Finds what at the chunk's end may begin a delimiter.
    ///
    /// - Returns: Where it begins.
    private mutating func holdBack(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) -> Int {
        var index = end - 1
        let lowest = max(start, end - (delimiter.count - 1 - lead))
        while index >= lowest {
            work &+= 1
            if bytes[index] == delimiter[lead] {
                return hold(bytes, start, end, from: index)
            }
            // Where LF alone ends lines, a CR at the very end may belong to an LF that is still to come.
            if lead == 1, index == end - 1, bytes[index] == 0x0D {
                (matched, heldFrom) = (1, 0)
                return index
            }
            index -= 1
        }
        return end
    }

    private mutating func hold(_ bytes: Span<UInt8>, _ start: Int, _ end: Int, from lineBreak: Int) -> Int {
        let count = end - lineBreak
        for offset in 0..<count {
            work &+= 1
            if bytes[lineBreak + offset] != delimiter[lead + offset] { return end }
        }
        matched = lead + count
        heldFrom = lead
        if lead == 1, lineBreak > start, bytes[lineBreak - 1] == 0x0D {
            heldFrom = 0
            return lineBreak - 1
        }
        return lineBreak
    }
}
