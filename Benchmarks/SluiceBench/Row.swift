/// One line of the table: something Sluice does, what limits it, and how close it must come.
struct Row {
    /// What is compared with the mark.
    enum Mark: CustomStringConvertible {
        /// Sluice's speed as a share of the limit's.
        case speedAtLeast(Double)
        /// Sluice's time as a multiple of the limit's.
        case timeAtMost(Double)
        /// A quantity of Sluice's that is measured without a limit beside it, such as MiB.
        case valueAtMost(Double, String)
        /// The same, where more is better, such as parts a second.
        case valueAtLeast(Double, String)

        var description: String {
            switch self {
            case .speedAtLeast(let share): ">= \(format(share))"
            case .timeAtMost(let multiple): "<= \(format(multiple))"
            case .valueAtMost(let value, let unit): "<= \(format(value)) \(unit)"
            case .valueAtLeast(let value, let unit): ">= \(format(value)) \(unit)"
            }
        }

        func isMet(_ value: Double) -> Bool {
            switch self {
            case .speedAtLeast(let share): value >= share
            case .timeAtMost(let multiple): value <= multiple
            case .valueAtMost(let most, _): value <= most
            case .valueAtLeast(let least, _): value >= least
            }
        }
    }

    /// Something that is run and timed.
    ///
    /// It moves the row's bytes each time.
    typealias Work = () async throws -> Void

    /// What a row runs, once it is set up.
    enum Measurement {
        /// Sluice and its limits in turns; where there are several limits, the fastest counts.
        case paired(bytes: Int64, sluice: Work, limits: [(name: String, work: Work)])
        /// One value, and what it was made from.
        case value(Double, details: String)
        /// It cannot be measured here.
        case absent(String)
    }

    let name: String
    let summary: String
    let mark: Mark
    let prepare: (Fixture, Options) async throws -> Measurement
}

/// A number with three significant places, as it is read in a table.
func format(_ value: Double) -> String {
    let scale: Double = value.magnitude >= 100 ? 1 : value.magnitude >= 10 ? 10 : 1000
    let rounded = (value * scale).rounded() / scale
    return rounded == rounded.rounded() && scale == 1 ? String(Int(rounded)) : String(rounded)
}
