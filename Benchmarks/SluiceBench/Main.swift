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
            + DownloadRows.all
            + GzipRows.all + ProgressRows.all + MemoryRows.all
    }

    static func main() async {
        // A receiver that goes away is an error of the row's, not the end of the program.
        signal(SIGPIPE, SIG_IGN)
        let arguments = CommandLine.arguments.dropFirst()
        do {
            // What the benchmark starts itself as, for a process of its own.
            if arguments == ["--sink"] { return try SinkProcess.run() }
            if arguments.count == 2, arguments.first == "--read" { return try MemoryRows.read(arguments[2]) }
        } catch {
            complain("sluice-bench: \(error)\n")
            exit(70)
        }
        let options: Options
        do {
            options = try Options(arguments)
        } catch {
            complain("sluice-bench: \(error.text)\n\(Options.usage)\n")
            exit(64)
        }
        let chosen = rows.filter { unsafe fnmatch(options.filter, $0.name, 0) == 0 }
        if chosen.isEmpty {
            complain("sluice-bench: no row matches \(options.filter)\n")
            exit(64)
        }
        if options.listsOnly {
            for row in chosen { print("\(row.name): \(row.summary); mark \(row.mark)") }
            return
        }
        do {
            exit(try await Runner(options: options).run(chosen) ? 0 : 1)
        } catch {
            complain("sluice-bench: \(error)\n")
            exit(70)
        }
    }

    private static func complain(_ text: String) {
        try? unsafe Array(text.utf8).withUnsafeBytes { unsafe try Libc.writeAll(2, $0) }
    }
}
