import Sluice

/// What the options say about all transfers of a command together.
struct RunOptions: Sendable {
    /// How many transfers may run at the same time.
    private(set) var parallel = 1
    private(set) var failsEarly = false
    private(set) var progress = ProgressDisplay.Style.auto
    private(set) var isVerbose = false

    /// Takes an option if it is one of commands.
    ///
    /// - Parameter given: The option and its value.
    /// - Returns: Whether it was.
    /// - Throws: A usage error for a value that is none of the option's.
    mutating func take(_ given: ParsedArguments.Given) throws(ToolError) -> Bool {
        switch given.option {
        case .parallel: parallel = try given.number(in: 1...10_000)
        case .failEarly: failsEarly = true
        case .progress:
            guard let style = ProgressDisplay.Style(rawValue: given.value) else {
                let known = ProgressDisplay.Style.allCases.map(\.rawValue).joined(separator: ", ")
                throw .usage("--progress is one of \(known), not '\(printable(given.value))'")
            }
            progress = style
        case .verbose: isVerbose = true
        default: return false
        }
        return true
    }

    /// Takes a command line apart into transfers.
    ///
    /// - Parameters:
    ///   - groups: What stands between one `--next` and the other.
    ///   - transfer: Makes a transfer of its operands and those options that are not of commands.
    /// - Returns: The transfers.
    /// - Throws: A usage error, which says with which transfer something is wrong where there are several.
    mutating func transfers<Transfer>(
        _ groups: [ParsedArguments],
        _ transfer: (ParsedArguments) throws(ToolError) -> Transfer
    ) throws(ToolError) -> [Transfer] {
        var transfers: [Transfer] = []
        for (index, group) in groups.enumerated() {
            do throws(ToolError) {
                var own = ParsedArguments(operands: group.operands)
                for given in group.options where try !take(given) { own.options.append(given) }
                transfers.append(try transfer(own))
            } catch {
                throw groups.count > 1 ? ToolError(error.exitCode, "transfer \(index + 1): \(error.message)") : error
            }
        }
        return transfers
    }
}
