import Foundation

/// The results as one page of HTML that needs nothing else: `--html`.
struct Page {
    private let report: Report

    init(_ report: Report) { self.report = report }

    var html: String {
        """
        <!DOCTYPE html>
        <html xmlns="http://www.w3.org/1999/xhtml" lang="en">
        <head>
        <meta charset="utf-8"/>
        <meta name="viewport" content="width=device-width, initial-scale=1"/>
        <title>sluice-bench</title>
        <style>
        \(Self.style)
        \(Chart.colors)
        </style>
        </head>
        <body>
        <h1>sluice-bench</h1>
        \(machine)
        \(limits)
        \(races)
        \(curves)
        <h2>All rows</h2>
        \(table)
        <pre>\(escaped(Table.legend))</pre>
        </body>
        </html>

        """
    }

    private static let style = """
        :root { color-scheme: light dark }
        body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 0 auto; padding: 1rem }
        svg { width: 100%; max-width: 34rem; height: auto; display: block }
        .scroll { overflow-x: auto }
        table { border-collapse: collapse; font-size: .85rem } td, th { padding: .2rem .5rem; text-align: left;
          border-bottom: 1px solid #9aa5b155; white-space: nowrap } .short { color: #c2410c; font-weight: bold }
        pre { font-size: .75rem; overflow-x: auto } code { overflow-wrap: anywhere }
        """

    private var machine: String {
        let machine = report.machine
        let versions = machine.versions.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        let lines =
            [
                "\(machine.processor), \(machine.cores) cores, \(machine.memoryMebibytes) MiB of memory",
                "\(machine.system), \(machine.kernel)",
                "\(machine.compiler), \(machine.isOptimized ? "release" : "debug") build",
            ] + versions
        let date = ISO8601DateFormatter().string(from: report.date)
        return "<p><code>\(escaped(report.command))</code>, \(date)</p>\n<ul>"
            + lines.map { "<li>\(escaped($0))</li>" }.joined(separator: "\n") + "</ul>"
    }

    private var limits: String {
        guard let chart = Charts(report).limits else { return "" }
        return """
            <h2>Against the limit</h2>
            <p>Sluice's speed as a share of what no implementation can do without, measured in turns in the same run. The
            line is the limit; the stroke in each bar is the row's mark.</p>
            \(svg(chart.content, chart.height, "Sluice's speed as a share of each row's limit"))
            """
    }

    private var races: String {
        Charts(report).races.map { row, content, height in
            let absent = row.absentPeers.isEmpty ? "" : " Not installed: \(row.absentPeers.joined(separator: ", "))."
            return "<h2>\(escaped(row.name))</h2>\n<p>\(escaped(row.summary)).\(escaped(absent))</p>\n"
                + svg(content, height, row.name)
        }.joined(separator: "\n")
    }

    private var curves: String {
        Charts(report).curves.map { growth, content, height in
            "<h2>\(escaped(growth.name))</h2>\n<p>Processor time of \(escaped(growth.summary)); dashed: linear.</p>\n"
                + (height > 0 ? svg(content, height, growth.name) : "") + "\n<pre>\(escaped(growth.text))</pre>"
        }.joined(separator: "\n")
    }

    private var table: String {
        let head = "<tr><th>row</th><th>ratio</th><th>range</th><th>mark</th><th></th><th>compared with</th></tr>"
        let lines = report.rows.map { row -> String in
            let state =
                switch row.state {
                case .absent(let reason): "absent: \(reason)"
                case .failed(let reason): "FAILED: \(reason)"
                case .measured: row.mark == .unmarked || row.figure == nil ? "" : row.isMet ? "ok" : "short"
                }
            let cells = [
                row.name, row.figure.map(format) ?? "",
                row.ratio.map { "\(format($0.least))-\(format($0.most))" } ?? "", "\(row.mark)",
            ]
            return "<tr>" + cells.map { "<td>\(escaped($0))</td>" }.joined()
                + "<td\(row.isMet ? "" : " class=\"short\"")>\(escaped(state))</td>"
                + "<td>\(escaped(row.comparedWith))</td></tr>"
        }
        return "<div class=\"scroll\"><table>\n\(head)\n\(lines.joined(separator: "\n"))\n</table></div>"
    }

    private func svg(_ content: String, _ height: Double, _ title: String) -> String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 \(Chart.number(Chart.width)) \(Chart.number(height))">
        <title>\(escaped(title))</title>
        \(content)
        </svg>
        """
    }
}

/// The picture of the README: `--svg`.
struct Picture {
    private let report: Report

    init(_ report: Report) { self.report = report }

    var svg: String {
        var content: [String] = []
        var top = 0.0
        func add(_ title: String, _ chart: String, _ height: Double) {
            content.append("<text x=\"0\" y=\"\(Chart.number(top + 16))\" font-weight=\"bold\">\(escaped(title))</text>")
            content.append("<g transform=\"translate(0 \(Chart.number(top + 24)))\">\n\(chart)\n</g>")
            top += height + 36
        }
        let charts = Charts(report)
        if let limits = charts.limits { add("Speed as a share of the limit's (line: 1)", limits.content, limits.height) }
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
