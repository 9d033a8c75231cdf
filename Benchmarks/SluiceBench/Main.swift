import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

@main
enum Main {
    static var rows: [Row] {
        ReaderRows.all + StreamRows.all + AllocationRows.all + WriteRows.all + UploadRows.all + UploadManyRows.all
            + DownloadRows.all + ReceiveRows.all + SessionRows.all + GzipRows.all + ProgressRows.all + MemoryRows.all
            + ParserRows.all + OldWayRows.all + PeerRows.all + PeerParserRows.all
    }

    static func main() async {
        // A receiver that goes away is an error of the row's, not the end of the program.
        signal(SIGPIPE, SIG_IGN)
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            // What the benchmark starts itself as, for a process of its own.
            switch (arguments.first, arguments.count) {
            case ("--sink", 1): return try SinkProcess.run()
            case ("--read", 2): return try MemoryRows.read(arguments[1])
            case ("--job", 2): return try await JobChild.run(arguments[1])
            case ("--help", 1), ("-h", 1): return print(Options.usage)
            default: break
            }
            exit(try run(try Options(arguments)) ? 0 : 1)
        } catch let problem as Options.Problem {
            complain("sluice-bench: \(problem.text)\n\(Options.usage)\n")
            exit(64)
        } catch {
            complain("sluice-bench: \(error)\n")
            exit(70)
        }
    }

    /// - Returns: Whether all is as it should be.
    private static func run(_ options: Options) throws -> Bool {
        let chosen = rows.filter { options.chooses($0.name) }
        let curves = options.includesScale ? Growth.all.filter { options.matches($0.name) } : []
        if chosen.isEmpty && curves.isEmpty {
            throw Options.Problem(text: "no row matches \(options.filters.joined(separator: " or "))")
        }
        if options.listsOnly {
            for row in chosen { print("\(row.name): \(row.summary); mark \(row.mark)") }
            for curve in curves { print("\(curve.name): \(curve.summary)") }
            return true
        }
        // Read and refused before anything is measured.
        let old = try options.comparePath.map { try Report.kept($0, comparableWith: options) }
        let isCompared = options.savePath != nil || old?.rows.contains { $0.ratio != nil } == true
        let runner = Runner(options, rows: chosen, directory: try WorkingDirectory.create(), isCompared: isCompared)
        defer { WorkingDirectory.remove() }
        var report = try runner.run(chosen, curves, command: CommandLine.arguments.joined(separator: " "))
        let comparison = old.map { runner.compare(&report, with: $0) }
        try write(report, options)
        guard let comparison else { return report.isMet }
        complain("\n\(comparison.text)\n")
        return comparison.isPassed
    }

    private static func write(_ report: Report, _ options: Options) throws {
        if options.printsJSON { print(String(decoding: try report.encoded(), as: UTF8.self), terminator: "") }
        let texts = [
            (options.htmlPath, Page(report).html), (options.svgPath, Picture(report).svg),
            (options.markdownPath, Markdown(report).text),
        ]
        for (path, text) in texts { if let path { try save(Data(text.utf8), path) } }
        if let path = options.savePath { try save(try report.encoded(), path) }
    }

    private static func save(_ data: Data, _ path: String) throws {
        try data.write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    private static func complain(_ text: String) {
        try? unsafe Array(text.utf8).withUnsafeBytes { unsafe try Libc.writeAll(2, $0) }
    }
}
