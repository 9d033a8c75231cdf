/// The results as the table of the README: `--markdown`.
struct Markdown {
    private let report: Report

    init(_ report: Report) { self.report = report }

    var text: String {
        let machine = report.machine
        let libcurl = machine.versions["libcurl"]?.split(separator: " ").first.map { ", \($0)" } ?? ""
        var lines = [
            "One run of `\(report.command)` on \(machine.cores) cores (\(machine.processor), \(machine.kernel), "
                + "\(machine.system), \(machine.compiler)\(libcurl)).",
            "",
            "| row | what | measured | compared with | mark |",
            "| --- | --- | --- | --- | --- |",
        ]
        lines += report.rows.map { row in
            "| `\(row.name)` | \(cell(row.summary)) | \(cell(measured(row))) | \(cell(row.comparedWith)) | \(row.mark) |"
        }
        lines += report.growth.map { growth in
            let exponent = growth.exponent.map { fixed($0, 2) } ?? "?"
            return
                "| `\(growth.name)` | \(cell(growth.summary)) | power \(exponent)\(growth.isMet ? "" : ", **short**") "
                + "| linear growth | <= \(GrowthResult.mostExponent) |"
        }
        lines += ["", "Versions: \(machine.versionLine)."]
        return lines.joined(separator: "\n") + "\n"
    }

    private func measured(_ row: RowResult) -> String {
        switch row.state {
        case .absent(let reason): return "absent: \(reason)"
        case .failed(let reason): return "**failed**: \(reason)"
        case .measured: break
        }
        guard let figure = row.figure else { return "" }
        let what =
            switch row.mark {
            case .speedAtLeast, .unmarked: "\(format(figure)) of the speed"
            case .timeAtMost: "\(format(figure)) times the time"
            case .valueAtMost(_, let unit), .valueAtLeast(_, let unit):
                unit.isEmpty ? format(figure) : "\(format(figure)) \(unit)"
            }
        return what + (row.isMet ? "" : ", **short**")
    }

    private func cell(_ text: String) -> String { text.replacing("|", with: "\\|") }
}
