internal import CSluiceTestSupport

/// A fault that a sanitizer is there to find.
package enum PlantedFault: String, CaseIterable, Codable, Sendable {
    case leak, overrun, race

    /// The sanitizer that this was built for: `address`, `thread`, or none.
    package static var sanitizer: String { unsafe String(cString: sluice_sanitizer()) }

    /// Those that the sanitizer of this build finds.
    package static var found: [PlantedFault] {
        switch sanitizer {
        case "address": [.leak, .overrun]
        case "thread": [.race]
        default: []
        }
    }

    package func plant() {
        switch self {
        case .leak: sluice_plant_leak()
        case .overrun: _ = sluice_plant_overrun()
        case .race: _ = sluice_plant_race()
        }
    }
}
