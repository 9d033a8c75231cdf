#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What the command line asks for.
struct Options: Codable, Equatable {
    /// Rows are chosen by any of these; all are where there is none.
    var filters: [String] = []
    var rounds = 7
    var mebibytes = 1024
    var isQuick = false
    var listsOnly = false
    /// Whether only what can be counted is, and nothing is timed.
    var countsOnly = false
    var includesPeers = false
    var includesScale = false
    var printsJSON = false
    var htmlPath: String?
    var svgPath: String?
    var markdownPath: String?
    var savePath: String?
    var comparePath: String?
    /// As a share of the old figure.
    var tolerance = 0.05

    /// Bytes of the large file.
    var size: Int64 { Int64(mebibytes) << 20 }
    /// Bytes of the sparse file whose memory is compared with that of a file of 1 GiB.
    var sparseSize: Int64 { Int64(isQuick ? 10 : 100) << 30 }

    /// Whether a row of this name is to be measured.
    func chooses(_ name: String) -> Bool {
        // Who asks for a peer's row by its name need not ask twice.
        let isWanted = includesPeers || !name.hasPrefix("peer-") || filters.contains { $0.hasPrefix("peer-") }
        return isWanted && matches(name)
    }

    func matches(_ name: String) -> Bool {
        filters.isEmpty || filters.contains { unsafe fnmatch($0, name, 0) == 0 }
    }

    static let usage = """
        usage: sluice-bench [OPTIONS]

        What to measure:
          --list            name the rows and their marks, measure nothing
          --filter GLOB     only rows whose names match; * stands for any text; may be given several times
          --peers           also the rows peer-*, against other people's programs (`make bench-peers` installs them)
          --scale           also how cost grows with size, with parts and with uploads at the same time
          --counts          only what can be counted (allocations, system calls, copied bytes); nothing is timed

        How:
          --rounds N        rounds a row, after one to warm up (default 7)
          --size MIB        size of the large file (default 1024)
          --quick           3 rounds, a file of 256 MiB, a sparse file of 10 GiB instead of 100

        What to do with it:
          --json            print the results as JSON instead of a table
          --html FILE       write a page with machine, charts and curves
          --svg FILE        write the picture of the README
          --markdown FILE   write the table of the README
          --save FILE       keep the results
          --compare FILE    compare ratios and counts with results that were kept, and tell what got worse
          --tolerance PCT   how much worse a ratio may be (default 5%)

        Each row measures Sluice and its limit in turns within the same run, and shows the median of the paired
        ratios with their range. The exit status is 1 where a row is short of its mark; with --compare, where a row got
        worse or cannot be measured any more.
        """

    struct Problem: Error {
        let text: String
    }

    init() {}

    init(_ arguments: some Sequence<String>) throws(Problem) {
        var arguments = Array(arguments)[...]
        func text(_ option: String, _ what: String) throws(Problem) -> String {
            guard let text = arguments.popFirst(), !text.isEmpty else {
                throw Problem(text: "\(option) needs \(what)")
            }
            return text
        }
        func number(_ option: String) throws(Problem) -> Int {
            let given = try text(option, "a number above 0")
            guard let value = Int(given), (1...1_000_000_000).contains(value) else {
                throw Problem(text: "\(option) needs a number above 0, not \(given)")
            }
            return value
        }
        // What is given counts, wherever it stands.
        var givenRounds: Int?
        var givenSize: Int?
        while let argument = arguments.popFirst() {
            switch argument {
            case "--list": listsOnly = true
            case "--filter": filters.append(try text(argument, "a pattern"))
            case "--rounds": givenRounds = try number(argument)
            case "--size": givenSize = try number(argument)
            case "--quick": isQuick = true
            case "--counts": countsOnly = true
            case "--peers": includesPeers = true
            case "--scale": includesScale = true
            case "--json": printsJSON = true
            case "--html": htmlPath = try text(argument, "a file")
            case "--svg": svgPath = try text(argument, "a file")
            case "--markdown": markdownPath = try text(argument, "a file")
            case "--save": savePath = try text(argument, "a file")
            case "--compare": comparePath = try text(argument, "a file")
            case "--tolerance":
                let given = try text(argument, "a percentage")
                guard let value = Double(given.hasSuffix("%") ? String(given.dropLast()) : given), value >= 0,
                    value < 100
                else { throw Problem(text: "--tolerance needs a percentage from 0 to 100, not \(given)") }
                tolerance = value / 100
            default: throw Problem(text: "unknown option \(argument)")
            }
        }
        rounds = givenRounds ?? (isQuick ? 3 : 7)
        mebibytes = givenSize ?? (isQuick ? 256 : 1024)
    }
}
