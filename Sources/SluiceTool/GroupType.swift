import Sluice

/// The type of a group of parts, `multipart/related; type="text/html"`, in its pieces.
struct GroupType {
    let subtype: MultipartForm.Subtype
    private(set) var parameters: [(name: String, value: String)] = []

    /// Takes a type apart.
    ///
    /// - Parameter text: The type.
    /// - Throws: A usage error where it is not a multipart type; `MultipartError` where it is no type at all.
    init(_ text: String) throws {
        let prefix = "multipart/"
        let type = try MediaType(text).description
        guard type.prefix(prefix.count).lowercased() == prefix else {
            throw ToolError.usage("a group of parts has a type like multipart/mixed, not \(printable(text))")
        }
        var rest = type.unicodeScalars.dropFirst(prefix.count)
        subtype = try MultipartForm.Subtype(String(Self.take(&rest) { $0 != ";" && $0 != " " && $0 != "\t" }))
        while true {
            _ = Self.take(&rest) { $0 == ";" || $0 == " " || $0 == "\t" }
            guard !rest.isEmpty else { return }
            let name = Self.take(&rest) { $0 != "=" }
            rest = rest.dropFirst()
            parameters.append((String(name), Self.takeValue(&rest)))
        }
    }

    /// A token as it is, a quoted string without its quotes and backslashes. `MediaType` has checked the syntax.
    private static func takeValue(_ rest: inout Substring.UnicodeScalarView) -> String {
        guard rest.first == "\"" else { return String(take(&rest) { $0 != ";" && $0 != " " && $0 != "\t" }) }
        rest = rest.dropFirst()
        var value = String.UnicodeScalarView()
        while let scalar = rest.popFirst(), scalar != "\"" {
            value.append(scalar == "\\" ? rest.popFirst() ?? scalar : scalar)
        }
        return String(value)
    }

    private static func take(
        _ rest: inout Substring.UnicodeScalarView,
        while condition: (Unicode.Scalar) -> Bool
    ) -> Substring.UnicodeScalarView {
        let taken = rest.prefix(while: condition)
        rest = rest.dropFirst(taken.count)
        return taken
    }
}
