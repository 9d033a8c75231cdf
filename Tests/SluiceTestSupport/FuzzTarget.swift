/// What a fuzzer's input is given to; `Tests/Corpus` has a directory for each.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// The parser, checked against itself in many ways of cutting: slow, and sees the most.
    case body
    /// The parser, checked for what must hold of any input: fast, for tens of millions of them.
    case parser
    /// The header lines of a part.
    case headers
    /// The value of a Content-Disposition.
    case disposition
    /// The value of a Content-Type, with its boundary.
    case contentType = "content-type"
    /// A file that is decompressed.
    case gunzip
    /// The sender's name of a file.
    case filename

    /// Reads an input, and checks what must hold for any.
    ///
    /// - Parameter input: The first byte chooses policies and limits (and the second one, for ``parser``, the place of the
    ///   cut), and the rest is what is read.
    /// - Returns: What does not hold; nil where all does.
    package func finding(_ input: [UInt8]) -> String? {
        switch self {
        case .parser: FastParserInput.finding(input.span)
        default: FuzzInput(self, input).finding()
        }
    }
}
