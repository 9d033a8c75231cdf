internal import Sluice

/// What the partial file of a download is called, so that the next one to the same target finds it again.
package enum PartialName {
    /// The bytes that a name may have: NAME_MAX of Linux and Darwin.
    private static let longest = 255

    /// The partial file's path.
    ///
    /// - Parameter target: The path of the file itself, with no symbolic link for its last component.
    /// - Returns: The path with an ending, or where there is no room for that, one made of the name's digest; nil where
    ///   there is no memory for that.
    package static func path(of target: String) -> String? {
        let directory = directory(of: target)
        let name = target.utf8.dropFirst(directory.utf8.count)
        // The record's name is the longest.
        guard name.count + ".sluice-part.info".utf8.count > longest else { return target + ".sluice-part" }
        return SHA256.digest(String(name) ?? target).map { "\(directory)\($0.hexadecimal).sluice-part" }
    }

    /// The path up to its last slash.
    static func directory(of path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? ""
    }
}
