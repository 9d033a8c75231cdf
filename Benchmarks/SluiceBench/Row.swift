/// One line of the table: something Sluice does, what limits it, and how close it must come.
struct Row {
    /// What is compared with the mark.
    enum Mark: CustomStringConvertible, Codable, Equatable {
        /// Sluice's speed as a share of the limit's.
        case speedAtLeast(Double)
        /// Sluice's time as a multiple of the limit's.
        case timeAtMost(Double)
        /// A quantity of Sluice's that is measured without a limit beside it, such as MiB.
        case valueAtMost(Double, String)
        /// None: the comparison is there to be seen.
        case unmarked
        /// The same, where more is better, such as parts a second.
        case valueAtLeast(Double, String)

        var description: String {
            switch self {
            case .speedAtLeast(let share): ">= \(format(share))"
            case .timeAtMost(let multiple): "<= \(format(multiple))"
            case .valueAtMost(let value, let unit): unit.isEmpty ? "<= \(format(value))" : "<= \(format(value)) \(unit)"
            case .valueAtLeast(let value, let unit): ">= \(format(value)) \(unit)"
            case .unmarked: "-"
            }
        }

        func isMet(_ value: Double) -> Bool {
            switch self {
            case .speedAtLeast(let share): value >= share
            case .timeAtMost(let multiple): value <= multiple
            case .valueAtMost(let most, _): value <= most
            case .unmarked: true
            case .valueAtLeast(let least, _): value >= least
            }
        }

        /// Whether ratios are of speeds, more of which is better, and not of times.
        var comparesSpeeds: Bool {
            switch self {
            case .speedAtLeast, .valueAtLeast, .unmarked: true
            case .timeAtMost, .valueAtMost: false
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
        /// Sluice and other programs in turns; the fastest of them counts. Those that are not installed are named.
        case race(bytes: Int64, sluice: Work, peers: [Peer], absent: [String])
        /// One value, and what it was made from.
        case value(Double, details: String)
        /// It cannot be measured here.
        case absent(String)
    }

    let name: String
    let summary: String
    let mark: Mark
    /// Whether the limits' memory and counts are taken too, because they are what the row is there to show.
    var countsLimits = false
    /// Whether the short set counts the row too.
    ///
    /// Counting stops a process at each system call, which takes longer than all else where there are very many, and says
    /// little where threads make them differ.
    var isCountedInShortSet = true
    let prepare: (Fixture, Options) async throws -> Measurement
}

/// A number with three significant places, as it is read in a table.
func format(_ value: Double) -> String {
    let scale: Double = value.magnitude >= 100 ? 1 : value.magnitude >= 10 ? 10 : 1000
    let rounded = (value * scale).rounded() / scale
    return rounded == rounded.rounded() && scale == 1 ? String(Int(rounded)) : String(rounded)
}
