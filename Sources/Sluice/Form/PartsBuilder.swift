/// Lists the parts of a form, with `if`, `switch` and `for`.
@resultBuilder
public enum PartsBuilder {
    /// Takes one part.
    ///
    /// - Parameter part: The part.
    /// - Returns: The part, as a list.
    public static func buildExpression(_ part: Part) -> [Part] { [part] }

    /// Takes a list of parts made elsewhere.
    ///
    /// - Parameter parts: The parts.
    /// - Returns: The parts.
    public static func buildExpression(_ parts: [Part]) -> [Part] { parts }

    /// Joins the lists of a block.
    ///
    /// - Parameter parts: The lists.
    /// - Returns: All of their parts.
    public static func buildBlock(_ parts: [Part]...) -> [Part] { parts.flatMap(\.self) }

    /// Takes an `if` without `else`.
    ///
    /// - Parameter parts: The list, if the condition held.
    /// - Returns: The list, or an empty one.
    public static func buildOptional(_ parts: [Part]?) -> [Part] { parts ?? [] }

    /// Takes the first branch of an `if` or `switch`.
    ///
    /// - Parameter parts: The branch's list.
    /// - Returns: The list.
    public static func buildEither(first parts: [Part]) -> [Part] { parts }

    /// Takes another branch of an `if` or `switch`.
    ///
    /// - Parameter parts: The branch's list.
    /// - Returns: The list.
    public static func buildEither(second parts: [Part]) -> [Part] { parts }

    /// Joins the lists of a `for` loop.
    ///
    /// - Parameter parts: The lists.
    /// - Returns: All of their parts.
    public static func buildArray(_ parts: [[Part]]) -> [Part] { parts.flatMap(\.self) }

    /// Takes the list of an `if #available`.
    ///
    /// - Parameter parts: The list.
    /// - Returns: The list.
    public static func buildLimitedAvailability(_ parts: [Part]) -> [Part] { parts }
}
