/// The results as the table of the README.
struct Markdown {
    private let report: Report

    init(_ report: Report) { self.report = report }

    var text: String {
        let machine = report.machine
        var lines = [
            "`\(report.command)` on \(machine.processor), \(machine.cores) cores, \(machine.kernel), "
                + "\(machine.system), \(machine.compiler), libcurl:",
            "",
            "| what | measured | compared with | mark |",
            "| --- | --- | --- | --- |",
        ]
        for row in report.rows {
            lines.append("| \(row.summary) | \(measured(row)) | \(row.comparedWith) | \(row.mark) |")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func measured(_ row: RowResult) -> String {
        ""
    }
}

struct Page {
    let html = ""
    init(_ report: Report) {}
}
struct Picture {
    let svg = ""
    init(_ report: Report) {}
}
