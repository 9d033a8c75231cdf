/// Finds the end of a part's headers, and keeps those that are spread over chunks.
///
/// Headers that lie in one chunk are copied once, when all are there. Others are gathered up to the limit, and what was
/// looked at is not looked at again.
struct HeaderBlock: Sendable {
    /// What headers have to keep to.
    struct Rules {
        let lineEnds: ParserPolicies.LineEnds
        let mostLines: Int
        let mostBytes: Int
        /// The error beyond `mostBytes`.
        let code: MultipartError.Code
        /// The most for all parts together, of which `mostBytes` may be what is left.
        let mostTotalBytes: Int
    }

    private struct Problem: Error {
        let code: MultipartError.Code
        let reason: String
        let offset: Int
    }

    /// The beginning of headers whose end is in a later chunk.
    private var gathered = ContiguousArray<UInt8>()
    private var progress = Progress()

    /// The bytes that are kept between chunks.
    var retainedBytes: Int { gathered.count }

    /// Goes on with the headers.
    ///
    /// - Parameters:
    ///   - bytes: The chunk.
    ///   - cursor: Where to go on in it; moved behind what was taken.
    ///   - end: Where the chunk ends.
    ///   - origin: The offset in the body of the chunk's first byte.
    ///   - rules: What the headers have to keep to.
    ///   - lines: Becomes the header lines without the empty line behind them, when all are there.
    /// - Returns: Whether they are; if not, the chunk ends before that.
    /// - Throws: What is too much, and an LF that ends no line.
    mutating func next(
        in bytes: Span<UInt8>,
        from cursor: inout Int,
        to end: Int,
        origin: Int64,
        _ rules: Rules,
        into lines: inout ContiguousArray<UInt8>
    ) throws(MultipartError) -> Bool {
        // A variable of its own, because the search borrows what is gathered beside it.
        var progress = progress
        defer { self.progress = progress }
        let before = gathered.count
        let start = origin + Int64(cursor) - Int64(before)
        do throws(Problem) {
            if before == 0 {
                guard let length = try progress.findEnd(in: bytes, from: cursor, to: end, rules) else {
                    gathered.append(copying: bytes, cursor..<end)
                    cursor = end
                    return false
                }
                lines.replaceAll(copying: bytes, cursor..<cursor + progress.lineStart)
                cursor += length
                progress = Progress()
                return true
            }
            // One byte too many is enough to see that there are.
            let added = min(end - cursor, max(rules.mostBytes - before, 0) + 1)
            gathered.append(copying: bytes, cursor..<cursor + added)
            guard let length = try progress.findEnd(in: gathered.span, from: 0, to: gathered.count, rules) else {
                cursor += added
                return false
            }
            cursor += length - before
            lines.replaceAll(copying: gathered.span, 0..<progress.lineStart)
            progress = Progress()
            // Its memory is for the next headers.
            gathered.removeAll(keepingCapacity: true)
            return true
        } catch {
            throw MultipartError(error.code, error.reason, byteOffset: start + Int64(error.offset))
        }
    }

    /// How far headers were looked at.
    private struct Progress {
        /// Where the current line begins.
        var lineStart = 0
        var lookedAt = 0
        var lineCount = 0

        /// Looks for the empty line.
        ///
        /// - Returns: How many bytes the headers have with that line; nil where it is not there yet.
        mutating func findEnd(
            in bytes: Span<UInt8>,
            from start: Int,
            to end: Int,
            _ rules: Rules
        ) throws(Problem) -> Int? {
            while let feed = bytes.firstOffset(of: 0x0A, in: start + lookedAt..<end) {
                let length = feed - start + 1
                try check(length, rules)
                let hasReturn = feed > start + lineStart && bytes[feed - 1] == 0x0D
                guard hasReturn || rules.lineEnds == .lenient else {
                    throw Problem(
                        code: .invalidHeader,
                        reason: "an LF without a CR is in the headers",
                        offset: length - 1
                    )
                }
                if length - (hasReturn ? 2 : 1) == lineStart { return length }
                lineCount += 1
                guard lineCount <= rules.mostLines else {
                    throw Problem(
                        code: .tooManyPartHeaders,
                        reason: "the part has more than \(rules.mostLines) header lines",
                        offset: lineStart
                    )
                }
                lineStart = length
                lookedAt = length
            }
            lookedAt = end - start
            try check(lookedAt, rules)
            return nil
        }

        private func check(_ length: Int, _ rules: Rules) throws(Problem) {
            guard length > rules.mostBytes else { return }
            throw Problem(
                code: rules.code,
                reason: rules.code == .partHeadersTooLarge
                    ? "the part's headers have more than \(rules.mostBytes) bytes"
                    : "the headers of all parts have more than \(rules.mostTotalBytes) bytes",
                offset: rules.mostBytes
            )
        }
    }
}
