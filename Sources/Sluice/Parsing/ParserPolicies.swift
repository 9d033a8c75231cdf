/// How a parser takes what the standards leave open, or what some senders do against them.
///
/// The defaults are the safe ones: whatever two parsers might read in two ways is refused. Each alternative is for
/// senders that are known to need it.
public struct ParserPolicies: Hashable, Sendable {
    /// What happens to bytes before the first delimiter; an empty line is always allowed there.
    public enum Preamble: Hashable, Sendable {
        /// They are an error, at the first byte that is not the delimiter's. The default for form-data.
        case reject
        /// They are ignored, as RFC 2046 section 5.1.1 says, up to ``ParserLimits/preambleBytes``. The default for other
        /// subtypes.
        case skip
    }

    /// What happens where a delimiter's line goes on with something else than padding, as in `--boundaryX`.
    public enum DelimiterSuffix: Hashable, Sendable {
        /// It is an error. The default.
        case reject
        /// It is not a delimiter but content: for nested multiparts whose boundary begins with the outer one.
        case data
    }

    /// What ends a line.
    public enum LineEnds: Hashable, Sendable {
        /// CR LF only. The default.
        case crlf
        /// CR LF, or LF alone.
        case lenient
    }

    /// What happens to header lines that go on in the next line, which begins with a space or a tab.
    public enum Folding: Hashable, Sendable {
        /// They are an error. The default.
        case reject
        /// The line break is read as spaces (RFC 9112 section 5.2).
        case unfold
    }

    /// How the quoted values of a Content-Disposition are read.
    public enum NameDecoding: Hashable, Sendable {
        /// `\"` is a quotation mark (older curl, Firefox), and everything else is as it is sent, backslashes (paths from
        /// Windows) and `%22` too. The default.
        case compatible
        /// The reverse of ``NameEscaping/percent`` and of what browsers send: `%22`, `%0D` and `%0A` are decoded, and a
        /// backslash is a backslash.
        case percent
        /// The reverse of ``NameEscaping/backslash`` (RFC 822 section 3.3): a backslash is dropped, and what follows it
        /// stands.
        case backslash
    }

    /// What happens to the parameter `filename*` (RFC 8187), which RFC 7578 section 4.2 forbids in form-data.
    public enum ExtendedFilename: Hashable, Sendable {
        /// It is ignored. The default.
        case ignore
        /// It is taken before `filename`; one that cannot be decoded is ignored (RFC 6266 section 4.3).
        case prefer
    }

    /// What happens to bytes before the first delimiter.
    public var preamble: Preamble
    /// What happens where a delimiter's line goes on.
    public var delimiterSuffix = DelimiterSuffix.reject
    /// What ends a line.
    public var lineEnds = LineEnds.crlf
    /// What happens to folded headers.
    public var folding = Folding.reject
    /// How names and filenames are read.
    public var nameDecoding = NameDecoding.compatible
    /// What happens to the parameter `filename*`.
    public var extendedFilename = ExtendedFilename.ignore
    /// Whether a part must have a Content-Disposition of the type form-data with a name (RFC 7578 section 4.2), and
    /// is a field where it has no filename.
    ///
    /// True for form-data; for other subtypes false, where a part may have no headers at all.
    public var requiresFormData: Bool

    /// The policies for a multipart subtype.
    ///
    /// - Parameter subtype: The subtype.
    public init(for subtype: MultipartForm.Subtype = .formData) {
        preamble = subtype == .formData ? .reject : .skip
        requiresFormData = subtype == .formData
    }
}
