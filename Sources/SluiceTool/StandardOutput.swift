import Sluice
internal import Synchronization

/// What the tool was asked for goes to standard output, and nothing else does.
enum StandardOutput {
    static let name = "standard output"
    /// Held while one writes, so that what another one writes does not land in the middle.
    private static let turn = Mutex(())

    /// Prints a line.
    ///
    /// - Parameter line: The line, without its end.
    /// - Throws: Where it cannot be written. Where nobody reads it, the process ends.
    static func print(_ line: String) throws(ToolError) {
        try write(Array((line + "\n").utf8))
    }

    /// Writes bytes.
    ///
    /// - Parameter bytes: The bytes.
    /// - Throws: As ``print(_:)`` does.
    static func write(_ bytes: [UInt8]) throws(ToolError) {
        do throws(Errno) {
            try turn.withLock { _ throws(Errno) in try Descriptor.write(bytes, to: Descriptor.standardOutput) }
        } catch {
            if error == .brokenPipe { Signals.endByBrokenPipe() }
            throw .system(.inputOutput, name, "cannot be written", error.rawValue)
        }
    }
}
