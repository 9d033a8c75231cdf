/// Makes a filename that is safe to create in a directory, of one that comes from outside.
package enum SafeFilename {
    /// The most bytes of a name that common file systems take.
    private static let longest = 255
    /// The most bytes of what counts as an extension, with its dot, when a name is cut.
    private static let longestExtension = 32
    /// What a name of which nothing is left becomes.
    private static let fallback = "unnamed"

    /// - Parameter bytes: The name as it came, in whatever encoding.
    /// - Returns: A name that ``PartHeaders/sanitizedFilename`` describes.
    package static func sanitize(_ bytes: some Sequence<UInt8>) -> String {
        var name = String.UnicodeScalarView()
        // A path is the sender's; its last component that is not empty is the name.
        for scalar in lastComponent(String(decoding: Array(bytes), as: UTF8.self)) {
            if let safe = replacement(scalar) { name.append(safe) }
        }
        var result = trimmed(name[...])
        if isReserved(result) || result.unicodeScalars.first == "-" { result = "_" + result }
        return result.isEmpty ? fallback : cut(result)
    }

    private static func lastComponent(_ text: String) -> Substring.UnicodeScalarView {
        text.unicodeScalars.split { $0 == "/" || $0 == "\\" }.last ?? Substring().unicodeScalars
    }

    /// What stands for a scalar; nil where nothing does.
    private static func replacement(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        switch scalar {
        // What Windows and its file systems do not take, the colon of streams among it.
        case "<", ">", ":", "\"", "|", "?", "*": return "_"
        default: break
        }
        let properties = scalar.properties
        switch properties.generalCategory {
        // Control characters, bidirectional and zero-width ones, and what is no character.
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: return nil
        case .spaceSeparator: return " "
        default: return properties.isDefaultIgnorableCodePoint ? nil : scalar
        }
    }

    /// Without the dots and spaces that hide a file (`.htaccess`), that name a directory (`..`), or that Windows drops.
    private static func trimmed(_ name: Substring.UnicodeScalarView) -> String {
        let start = name.drop { $0 == "." || $0 == " " }
        let end = start.lastIndex { $0 != "." && $0 != " " }
        guard let end else { return "" }
        return String(start[...end])
    }

    /// Whether Windows takes the name for a device, whatever its extension.
    private static func isReserved(_ name: String) -> Bool {
        // By scalars throughout: to `Character`, a dot with an accent is no dot.
        let stem = name.unicodeScalars.prefix { $0 != "." }
        let base = String(stem[..<(stem.lastIndex { $0 != " " }.map(stem.index(after:)) ?? stem.startIndex)])
            .uppercased()
        switch base {
        case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$": return true
        default:
            guard base.count == 4, base.hasPrefix("COM") || base.hasPrefix("LPT") else { return false }
            return "0123456789\u{B9}\u{B2}\u{B3}".contains(base.suffix(1))
        }
    }

    /// At most ``longest`` bytes of the name, cut before its extension and between two scalars.
    private static func cut(_ name: String) -> String {
        guard name.utf8.count > longest else { return name }
        var suffix: Substring = ""
        if let dot = name.unicodeScalars.lastIndex(of: "."), name[dot...].utf8.count <= longestExtension {
            suffix = name[dot...]
        }
        var room = longest - suffix.utf8.count
        var stem = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            room -= UTF8.width(scalar)
            if room < 0 { break }
            stem.append(scalar)
        }
        return trimmed((String(stem) + suffix).unicodeScalars[...])
    }
}
