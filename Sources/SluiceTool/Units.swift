/// Numbers as people read them.
enum Units {
    private static let names = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

    /// A number of bytes with three digits or so: `512 B`, `1.46 GiB`, `312 MiB`.
    static func bytes(_ count: Int64) -> String {
        bytes(Double(count))
    }

    /// A rate: `312 MiB/s`.
    static func rate(_ bytesPerSecond: Double) -> String {
        bytes(bytesPerSecond) + "/s"
    }

    private static func bytes(_ count: Double) -> String {
        guard count > 0 else { return "0 B" }
        var value = min(count, Double(Int64.max))
        var unit = 0
        // What would be rounded to 1024 belongs to the next unit.
        while value >= 1023.5, unit < names.count - 1 {
            value /= 1024
            unit += 1
        }
        guard unit > 0 else { return "\(Int(value.rounded())) B" }
        let digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0
        return "\(decimal(value, digits: digits)) \(names[unit])"
    }

    /// A number with a fixed number of digits behind the point.
    static func decimal(_ value: Double, digits: Int) -> String {
        guard digits > 0 else { return "\(Int(value.rounded()))" }
        let scale = (0..<digits).reduce(1) { result, _ in result * 10 }
        let scaled = Int((value * Double(scale)).rounded())
        let fraction = "\(scaled % scale)"
        return "\(scaled / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
    }

    /// A time: `0:05`, `12:34`, `1:02:03`.
    static func duration(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds < 3_600_000 else { return "-:--" }
        let total = max(Int(seconds.rounded()), 0)
        func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let (hours, minutes) = (total / 3600, total / 60 % 60)
        let rest = twoDigits(total % 60)
        return hours > 0 ? "\(hours):\(twoDigits(minutes)):\(rest)" : "\(minutes):\(rest)"
    }
}
