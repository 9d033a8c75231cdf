/// What the command line asks for.
struct Options {
    var filter = "*"
    var rounds = 7
    var mebibytes = 1024
    var isQuick = false
    var listsOnly = false

    /// Bytes of the large file.
    var size: Int64 { Int64(mebibytes) << 20 }
    /// Bytes of the sparse file whose memory is compared with that of a file of 1 GiB.
    var sparseSize: Int64 { Int64(isQuick ? 10 : 100) << 30 }

    static let usage = """
        usage: sluice-bench [--list] [--filter GLOB] [--rounds N] [--size MIB] [--quick]

          --list         name the rows and their marks, measure nothing
          --filter GLOB  only rows whose names match; * stands for any text
          --rounds N     rounds a row, after one to warm up (default 7)
          --size MIB     size of the large file (default 1024)
          --quick        3 rounds, a file of 256 MiB, a sparse file of 10 GiB instead of 100

        Each row measures Sluice and its limit in turns within the same run, and shows the median of the paired
        ratios with their range. The exit status is 1 where a row is short of its mark.
        """

    struct Problem: Error {
        let text: String
    }

    init(_ arguments: some Sequence<String>) throws(Problem) {
        var arguments = Array(arguments)[...]
        func number(_ option: String, _ text: String?) throws(Problem) -> Int {
            guard let text, let value = Int(text), value > 0 else {
                throw Problem(text: "\(option) needs a number above 0")
            }
            return value
        }
        while let argument = arguments.popFirst() {
            switch argument {
            case "--list": listsOnly = true
            case "--filter":
                guard let pattern = arguments.popFirst() else { throw Problem(text: "--filter needs a pattern") }
                filter = pattern
            case "--rounds": rounds = try number(argument, arguments.popFirst())
            case "--size": mebibytes = try number(argument, arguments.popFirst())
            case "--quick":
                isQuick = true
                rounds = 3
                mebibytes = 256
            default: throw Problem(text: "unknown option \(argument)")
            }
        }
    }
}
