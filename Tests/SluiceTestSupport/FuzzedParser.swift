internal import Sluice

/// The parsers that a byte of a fuzzer's chooses from: each boundary, policy and limit is a bit.
struct FuzzedParser {
    let contentType: MultipartContentType
    var limits = ParserLimits(fileBytes: .max, totalBytes: .max)
    var policies: ParserPolicies

    private static let contentTypes: [MultipartContentType] = [MultipartForm.Subtype.formData, .mixed].flatMap {
        subtype in
        ["b", "boundary-0123456789"].compactMap { boundary in
            (try? Boundary(boundary)).map { MultipartContentType(subtype: subtype, boundary: $0) }
        }
    }

    init(_ options: UInt8) {
        contentType = Self.contentTypes[Int(options & 3)]
        policies = ParserPolicies(for: contentType.subtype)
        policies.delimiterSuffix = options & 4 == 0 ? .reject : .data
        policies.lineEnds = options & 8 == 0 ? .crlf : .lenient
        policies.folding = options & 16 == 0 ? .reject : .unfold
        policies.nameDecoding = options & 32 == 0 ? .compatible : .percent
        policies.extendedFilename = options & 64 == 0 ? .ignore : .prefer
        guard options & 128 != 0 else { return }
        limits = ParserLimits(fileBytes: 20, totalBytes: 400)
        limits.fieldBytes = 10
        limits.totalFieldBytes = 15
        limits.partHeaderBytes = 100
        limits.totalHeaderBytes = 180
        limits.partHeaderCount = 3
        limits.partCount = 3
        limits.paddingBytes = 2
        limits.preambleBytes = 5
    }
}
