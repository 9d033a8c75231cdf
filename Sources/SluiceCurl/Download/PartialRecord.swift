internal import Sluice

/// What a partial file is a part of: the content of the small file beside it, by which a later download goes on.
///
/// A line of text for each fact:
///
///     sluice-partial-1
///     url-sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
///     etag "5f3c-1b2"
///     length 104857600
///
/// The URL itself may hold a secret and is not written down. The validator is an `etag`, or `modified` with the value of
/// `Last-Modified`. The length is left out where the server did not say it; where there is a `Content-Encoding`, it is a
/// `coding`.
struct PartialRecord: Sendable, Hashable {
    let urlDigest: String
    let validator: Validator
    let total: Int64?

    private static let signature = "sluice-partial-1"
    /// More than any record has.
    static let longest = 16 * 1024

    var text: String {
        "\(Self.signature)\nurl-sha256 \(urlDigest)\n\(validator.kind.rawValue) \(validator.value)\n"
            + (validator.coding.isEmpty ? "" : "coding \(validator.coding)\n") + (total.map { "length \($0)\n" } ?? "")
    }

    init(urlDigest: String, validator: Validator, total: Int64?) {
        self.urlDigest = urlDigest
        self.validator = validator
        self.total = total
    }

    /// Reads a record; nil for what is none, since whoever can write to the directory can write anything.
    init?(_ text: String) {
        var facts: [Substring: String] = [:]
        let lines = text.split(separator: "\n", omittingEmptySubsequences: true)
        // Cut off in the middle of a line, a length would be another one.
        guard lines.first == Self.signature[...], text.hasSuffix("\n") else { return nil }
        for line in lines.dropFirst() {
            guard let space = line.firstIndex(of: " ") else { return nil }
            facts[line[..<space]] = String(line[line.index(after: space)...])
        }
        let coding = facts["coding"] ?? ""
        let validator =
            facts["etag"].flatMap { Validator(.etag, $0, coding: coding) }
            ?? facts["modified"].flatMap { Validator(.modified, $0) }
        guard let digest = facts["url-sha256"], let validator else { return nil }
        urlDigest = digest
        self.validator = validator
        if let length = facts["length"] {
            guard let total = Int64(length), total >= 0 else { return nil }
            self.total = total
        } else {
            total = nil
        }
    }
}
