/// The results as lines of text with aligned columns.
struct Table {
    private static let columns = [
        "ratio", "range", "mark", "", "MiB/s", "CPU s", "peak MiB", "allocs/MiB", "calls/MiB", "in", "copied",
    ]
    private let widths: [Int]

    /// - Parameter names: Those of all rows, which are the first column.
    init(names: [String]) {
        widths = [max(names.map(\.count).max() ?? 0, 3), 6, 11, 12, 5, 6, 9, 8, 10, 9, 5, 6]
    }

    var head: String { line(["row"] + Self.columns, "compared with") }

    func line(_ row: RowResult) -> String {
        switch row.state {
        case .absent(let reason): return line([row.name, "absent"], reason)
        case .failed(let reason): return line([row.name, "FAILED"], reason)
        case .measured: break
        }
        let sluice = row.sides.first
        let counts = sluice?.counts
        let mebibytes = Double(row.bytes) / 1_048_576
        func perMebibyte(_ count: Count?) -> String {
            guard let count, mebibytes > 0 else { return "" }
            return (count.isExact ? "" : "~") + format(Double(count.least) / mebibytes)
        }
        func times(_ count: Count?) -> String {
            guard let count, row.bytes > 0 else { return "" }
            return fixed(Double(count.least) / Double(row.bytes), 2)
        }
        var processor = sluice?.cpu.median.map { fixed($0, 3) } ?? ""
        if let children = sluice?.childrenCPU.median, children > 0 { processor += "+" + fixed(children, 2) }
        return line(
            [
                row.name,
                row.figure.map(format) ?? "",
                row.ratio.map { "\(format($0.least))-\(format($0.most))" } ?? "",
                row.figure == nil ? "" : "\(row.mark)",
                row.figure == nil || row.mark == .unmarked ? "" : row.isMet ? "ok" : "SHORT",
                sluice?.rate(row.bytes).map(format) ?? "",
                processor,
                counts?.peakMebibytes.map { fixed($0, 1) } ?? "",
                perMebibyte(counts?.allocations),
                perMebibyte(counts?.systemCalls) + (counts?.isTraced == false && counts?.systemCalls != nil ? "*" : ""),
                times(counts?.bytesIn),
                times(counts?.copiedBytes),
            ],
            row.comparedWith
        )
    }

    /// What the columns mean.
    static let legend = """

        ratio      Sluice against the limit that it is compared with: speeds where the mark is ">=" or there is none,
                   times where it is "<=". The median of paired rounds; range: the least and the most of them. A wide
                   range says that the machine was busy. SHORT: not at the mark.
        CPU s      of one run, user and system; after + that of programs it starts
        peak MiB   of a process that does only this
        allocs, calls, in, copied
                   calls of malloc and system calls a MiB, and bytes that the kernel copied in and memcpy moved within
                   the process as multiples of the bytes sent; ~ where runs differ, * where only reads and writes
                   can be counted
        """

    private func line(_ cells: [String], _ last: String) -> String {
        var text = zip(cells, widths).map { cell, width in
            cell + String(repeating: " ", count: max(width - cell.count, 0))
        }.joined(separator: "  ")
        text += last.isEmpty ? "" : "  " + last
        while text.last == " " { text.removeLast() }
        return text
    }
}

extension RowResult {
    /// The limits or peers with their speeds and what memory they take, where it is known.
    var comparedWith: String {
        if let details { return details }
        var parts = sides.dropFirst().map { side in
            let speed = side.rate(bytes).map { " \(format($0)) MiB/s" } ?? ""
            let memory = side.peakMebibytes.map { ", \(format($0)) MiB of memory" } ?? ""
            return side.name + speed + memory
        }
        parts += absentPeers.map { "\($0) absent" }
        return parts.joined(separator: "; ")
    }
}

/// Seconds, in the unit that they are read best in.
func duration(_ seconds: Double) -> String {
    if seconds < 1e-3 { return "\(fixed(seconds * 1e6, seconds < 1e-4 ? 1 : 0)) us" }
    if seconds < 1 { return "\(fixed(seconds * 1e3, seconds < 0.1 ? 1 : 0)) ms" }
    return "\(fixed(seconds, 2)) s"
}

/// A number with so many places behind the point.
func fixed(_ value: Double, _ places: Int) -> String {
    let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
    let scaled = (value.magnitude * scale).rounded()
    guard value.isFinite, scaled < 1e15 else { return "\(value)" }
    let digits = String(Int64(scaled))
    let padded = String(repeating: "0", count: max(places + 1 - digits.count, 0)) + digits
    let sign = value < 0 && scaled > 0 ? "-" : ""
    return places == 0 ? sign + padded : "\(sign)\(padded.dropLast(places)).\(padded.suffix(places))"
}
