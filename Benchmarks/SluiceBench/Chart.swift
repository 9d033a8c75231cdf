import Foundation

/// A bar of a chart, with its words above it.
struct Bar {
    enum Kind: String {
        case sluice
        case other
    }

    var label: String
    var value: Double
    /// What stands at the right: the value in its unit.
    var text: String
    var kind = Kind.sluice
    /// Where a mark is drawn across the bar.
    var mark: Double?
}

/// Charts as SVG, narrow enough to be read on a phone without turning it.
enum Chart {
    /// In SVG's units, one of which is about a pixel on a phone.
    static let width = 400.0
    static let colors = """
        .sluice { fill: #0a7d6c } .other { fill: #9aa5b1 } .mark { stroke: #c2410c; stroke-width: 2 }
        .line { stroke: #0a7d6c; fill: none; stroke-width: 2 } .straight { stroke: #9aa5b1; stroke-dasharray: 4 4 }
        .grid { stroke: #9aa5b1; stroke-opacity: .35 } svg text { fill: #1f2933; font: 12px system-ui, sans-serif }
        @media (prefers-color-scheme: dark) {
          .sluice { fill: #2dd4bf } .other { fill: #64748b } .mark { stroke: #fb923c } .line { stroke: #2dd4bf }
          svg text { fill: #e5e7eb }
        }
        """

    /// Bars below each other.
    ///
    /// - Parameters:
    ///   - bars: From the top down.
    ///   - full: The value whose bar is as wide as the chart; longer ones are cut there, their text says the rest.
    ///   - reference: A value at which a line goes through all bars.
    /// - Returns: The elements within a `svg`, and how high they are.
    static func bars(_ bars: [Bar], full: Double, reference: Double? = nil) -> (content: String, height: Double) {
        let (rowHeight, barHeight) = (34.0, 10.0)
        func x(_ value: Double) -> Double { min(max(value, 0) / full, 1) * width }
        var parts: [String] = []
        for (index, bar) in bars.enumerated() {
            let top = Double(index) * rowHeight
            parts.append("<text x=\"0\" y=\"\(number(top + 14))\">\(escaped(bar.label))</text>")
            parts.append(
                "<text x=\"\(number(width))\" y=\"\(number(top + 14))\" text-anchor=\"end\">\(escaped(bar.text))</text>"
            )
            parts.append(
                "<rect class=\"\(bar.kind.rawValue)\" x=\"0\" y=\"\(number(top + 19))\" width=\"\(number(x(bar.value)))\" "
                    + "height=\"\(number(barHeight))\" rx=\"2\"/>"
            )
            if let mark = bar.mark { parts.append(line("mark", x(mark), top + 17, x(mark), top + 31)) }
        }
        let height = Double(bars.count) * rowHeight
        if let reference { parts.insert(line("grid", x(reference), 0, x(reference), height), at: 0) }
        return (parts.joined(separator: "\n"), height)
    }

    /// A curve on two logarithmic axes, with the straight line that linear growth is.
    ///
    /// - Returns: The elements within a `svg`, and how high they are.
    static func curve(_ points: [(x: Double, y: Double)], unit: String) -> (content: String, height: Double) {
        let points = points.filter { $0.x > 0 && $0.y > 0 }
        guard let last = points.last, points.count > 1 else { return ("", 0) }
        let (left, top, right, bottom, height) = (56.0, 8.0, width - 24, 180.0, 204.0)
        let (xs, ys) = (points.map { log10($0.x) }, points.map { log10($0.y) })
        let (lowX, highX) = (xs.min() ?? 0, xs.max() ?? 1)
        let (lowY, highY) = (floor(ys.min() ?? 0), ceil(ys.max() ?? 1))
        func place(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
            (
                left + (x - lowX) / max(highX - lowX, 1e-9) * (right - left),
                bottom - (y - lowY) / max(highY - lowY, 1e-9) * (bottom - top)
            )
        }
        var parts: [String] = []
        for power in Int(lowY)...Int(max(highY, lowY)) {
            let y = place(lowX, Double(power)).y
            parts.append(line("grid", left, y, right, y))
            let text = duration(pow(10, Double(power)))
            parts.append("<text x=\"\(number(left - 6))\" y=\"\(number(y + 4))\" text-anchor=\"end\">\(text)</text>")
        }
        for (point, x) in zip(points, xs) where point.x == last.x || x == xs.first || points.count < 4 || x > lowX + 1 {
            let text = "\(Int64(point.x))" + (point.x == last.x ? " \(escaped(unit))" : "")
            let anchor = point.x == last.x ? "end" : "middle"
            let place = place(x, lowY).x
            if point.x != last.x, place > right - 90 { continue }
            parts.append("<text x=\"\(number(place))\" y=\"\(number(bottom + 18))\" text-anchor=\"\(anchor)\">\(text)</text>")
        }
        // Through the last point: what lies above it on the left is what any size costs.
        let (lastX, lastY) = (log10(last.x), log10(last.y))
        let start = max(lowX, lastX - (lastY - lowY))
        let (from, to) = (place(start, lastY - (lastX - start)), place(lastX, lastY))
        parts.append(line("straight", from.x, from.y, to.x, to.y))
        let path = zip(xs, ys).map { x, y in
            let place = place(x, y)
            return "\(number(place.x)),\(number(place.y))"
        }
        parts.append("<polyline class=\"line\" points=\"\(path.joined(separator: " "))\"/>")
        return (parts.joined(separator: "\n"), height)
    }

    private static func line(_ kind: String, _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) -> String {
        "<line class=\"\(kind)\" x1=\"\(number(x1))\" y1=\"\(number(y1))\" x2=\"\(number(x2))\" y2=\"\(number(y2))\"/>"
    }

    /// Short enough for a file that is read by people too.
    static func number(_ value: Double) -> String { fixed(value, 1) }
}

/// Text as it stands in HTML and XML.
func escaped(_ text: String) -> String {
    text.reduce(into: "") { result, character in
        switch character {
        case "&": result += "&amp;"
        case "<": result += "&lt;"
        case ">": result += "&gt;"
        case "\"": result += "&quot;"
        default: result.append(character)
        }
    }
}
