// The fuzzer, which links no tool, has the grammar's own files beside this one.
#if !SLUICE_FUZZ
@testable import SluiceTool
#endif

/// An argument of `-F` that a fuzzer made, and what must hold for whatever it is.
struct FormArgumentInput {
    /// The directory of its corpus in `Tests/Corpus`.
    static let target = "form-argument"

    private let argument: String

    init(_ bytes: [UInt8]) {
        argument = String(decoding: bytes, as: UTF8.self)
    }

    /// What does not hold; nil where all does.
    ///
    /// What is understood is understood again, as the same, where it is written with everything in quotes.
    func finding() -> String? {
        let name: String?
        let spec: FormSpec
        do throws(FormSpecError) {
            (name, spec) = try FormSpec.parse(argument)
        } catch {
            return "\(error)".isEmpty ? "an error without words" : nil
        }
        let (before, behind) = argument.utf8.split(separator: 0x3D, maxSplits: 1, omittingEmptySubsequences: false)
            .map { String(Substring($0)) }.halves
        if (name ?? "") != before { return "the name is \(String(describing: name)) of \(before)" }
        if name == "" { return "the name is empty, and not nil" }
        if spec == .end { return behind == ")" && name == nil ? nil : "\(argument) ends a group" }
        let written = "\(before)=\(Self.text(spec))"
        guard let again = try? FormSpec.parse(written) else { return "\(argument) is \(written), which is an error" }
        return again == (name, spec) ? nil : "\(argument) is \(spec), and \(written) is \(again.spec)"
    }

    // MARK: Writing

    private static func text(_ spec: FormSpec) -> String {
        switch spec {
        case .value(let value, let attributes): quoted(value) + text(attributes)
        case .content(let path, let attributes): "<" + quoted(path) + text(attributes)
        case .files(let files): "@" + files.map { quoted($0.path) + text($0.attributes) }.joined(separator: ",")
        case .begin(let attributes): "(" + text(attributes)
        case .end: ")"
        }
    }

    private static func text(_ attributes: FormSpec.Attributes) -> String {
        var text = ""
        if let filename = attributes.filename { text += ";filename=" + quoted(filename) }
        for header in attributes.headers {
            switch header {
            case .line(let line): text += ";headers=" + quoted(line)
            case .file(let path): text += ";headers=@" + quoted(path)
            }
        }
        if let compression = attributes.compression {
            if let level = compression.level {
                text += ";gzip=\(level)"
            } else if !compression.isEncoding {
                text += ";gzip"
            }
            if compression.isEncoding { text += ";content-encoding=gzip" }
        }
        // Last, because what follows may be a parameter of it.
        if let type = attributes.type { text += ";type=" + type }
        return text
    }

    private static func quoted(_ word: String) -> String {
        let escaped = word.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }
        return "\"" + escaped.joined() + "\""
    }
}

extension [String] {
    /// The first one and the second one.
    fileprivate var halves: (String, String) { (first ?? "", dropFirst().first ?? "") }
}
