/// Names for files whose name is taken: `photo.jpg`, `photo-2.jpg`, `photo-3.jpg`.
enum NumberedName {
    /// The most bytes of a name that common file systems take.
    private static let longest = 255

    /// A name's n-th form.
    ///
    /// - Parameters:
    ///   - name: The name, of at most 255 bytes.
    ///   - number: Which form; 1 is the name itself.
    /// - Returns: The name with the number before its extension, of at most 255 bytes.
    static func name(_ name: String, _ number: Int) -> String {
        guard number > 1 else { return name }
        let suffix = "-\(number)"
        let dot = name.lastIndex(of: ".").flatMap { $0 > name.startIndex && name[$0...].utf8.count <= 32 ? $0 : nil }
        let fileExtension = dot.map { name[$0...] } ?? ""
        // By its scalars: a character may be nearly all of the name.
        var stem = name.unicodeScalars[..<(dot ?? name.endIndex)]
        while String(stem).utf8.count + suffix.utf8.count + fileExtension.utf8.count > longest, !stem.isEmpty {
            stem = stem.dropLast()
        }
        return String(stem) + suffix + fileExtension
    }
}
