/// The picture of the README: `--svg`.
struct Picture {
    private let report: Report

    init(_ report: Report) { self.report = report }

    var svg: String {
        var content: [String] = []
        var top = 0.0
        func add(_ title: String, _ chart: String, _ height: Double) {
            content.append("<text class=\"title\" x=\"0\" y=\"\(Chart.number(top + 16))\">\(escaped(title))</text>")
            content.append("<g transform=\"translate(0 \(Chart.number(top + 24)))\">\n\(chart)\n</g>")
            top += height + 36
        }
        let charts = Charts(report)
        if let limits = charts.limits {
            add("Speed as a share of the limit's (line: 1)", limits.content, limits.height)
        }
        for race in charts.races { add(race.row.name, race.content, race.height) }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 -4 416 \(Chart.number(top + 8))" width="624">
            <title>sluice-bench: Sluice against the physical limit and against others</title>
            <style>
            \(Chart.colors)
            </style>
            \(content.joined(separator: "\n"))
            </svg>

            """
    }
}
