internal import CSluiceTool
import SluiceCurl
internal import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A stream of lines for people, with at most one line that is redrawn in place below them.
///
/// Everything that goes to standard error goes through here, from whatever thread, so that a message never lands in
/// the middle of a progress bar.
final class Console: Sendable {
    /// The process's standard error.
    static let standardError = Console(Descriptor.standardError)

    private let descriptor: Int32
    /// Whether the terminal knows how to clear a line's rest; to others spaces are written.
    private let clearsLines: Bool
    /// The columns that the line in place takes up; 0 where there is none.
    private let columnsInPlace = Mutex(0)

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        let terminal = unsafe getenv("TERM").map { unsafe String(cString: $0) }
        clearsLines = terminal != nil && terminal != "dumb"
    }

    /// The columns that a line may have without being broken; nil where this is no terminal.
    var columns: Int? {
        let columns = Int(sluice_terminal_columns(descriptor))
        guard columns >= 0 else { return nil }
        // Some terminals break a line that fills the last column.
        return (columns > 0 ? columns : 80) - 1
    }

    /// Prints a line above the one in place, which goes until it is shown again.
    func print(_ line: String) {
        columnsInPlace.withLock { columns in
            send(clearing(&columns) + line + "\n")
        }
    }

    /// Prints without ending the line.
    func write(_ text: String) {
        columnsInPlace.withLock { columns in
            send(clearing(&columns) + text)
        }
    }

    /// Shows a line in place of the one that was shown last.
    func show(inPlace line: String) {
        columnsInPlace.withLock { columns in
            let width = DisplayWidth.columns(of: line)
            send("\r" + line + blanks(columns - width))
            columns = width
        }
    }

    /// Prints what goes on in a transfer.
    func show(_ line: CurlRequest.DebugLine) {
        let mark =
            switch line.kind {
            case .info: "*"
            case .requestHeader: ">"
            case .responseHeader: "<"
            }
        print("\(mark) \(line.text)")
    }

    /// Makes the line in place an ordinary one.
    func keepLineInPlace() {
        columnsInPlace.withLock { columns in
            if columns > 0 { send("\n") }
            columns = 0
        }
    }

    /// Takes the line in place away.
    func clearLineInPlace() {
        columnsInPlace.withLock { columns in
            let text = clearing(&columns)
            if !text.isEmpty { send(text) }
        }
    }

    private func clearing(_ columns: inout Int) -> String {
        guard columns > 0 else { return "" }
        defer { columns = 0 }
        return "\r" + blanks(columns) + "\r"
    }

    /// What blots out so many columns from here on, or all of the rest.
    private func blanks(_ columns: Int) -> String {
        clearsLines ? "\u{1B}[K" : String(repeating: " ", count: max(min(columns, self.columns ?? columns), 0))
    }

    /// Messages that cannot be written are lost; there is nobody left to tell.
    private func send(_ text: String) {
        try? Descriptor.write(Array(text.utf8), to: descriptor)
    }
}
