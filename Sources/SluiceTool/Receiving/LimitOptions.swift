import Sluice

/// What the options say of how much is accepted.
struct LimitOptions: Sendable {
    private(set) var limits: ParserLimits

    static let options: [Option] = [.maxTotal, .maxFile, .maxField, .maxParts, .maxHeaders]

    /// More bytes than the headers of a part have but rarely.
    private static let headersOfPart = 1024

    /// - Parameter limits: What holds unless the options say otherwise.
    init(_ limits: ParserLimits) {
        self.limits = limits
    }

    /// Takes an option if it is one of limits.
    ///
    /// - Parameter given: The option and its value.
    /// - Returns: Whether it was.
    /// - Throws: A usage error for a value that is no number.
    mutating func take(_ given: ParsedArguments.Given) throws(ToolError) -> Bool {
        switch given.option {
        case .maxTotal: limits.totalBytes = Int64(try given.bytes())
        case .maxFile: limits.fileBytes = Int64(try given.bytes())
        case .maxField:
            limits.fieldBytes = Int64(try given.bytes())
            // Else eight such fields would be too much.
            limits.totalFieldBytes = max(limits.totalFieldBytes, limits.fieldBytes)
        case .maxParts:
            limits.partCount = try given.number(in: 0...Int(Int32.max))
            // Else the headers of so many parts would be too much.
            let (bytes, isTooMuch) = limits.partCount.multipliedReportingOverflow(by: Self.headersOfPart)
            limits.totalHeaderBytes = max(limits.totalHeaderBytes, isTooMuch ? .max : bytes)
        case .maxHeaders:
            limits.partHeaderBytes = try given.bytes()
            limits.totalHeaderBytes = max(limits.totalHeaderBytes, limits.partHeaderBytes)
        default: return false
        }
        return true
    }
}
