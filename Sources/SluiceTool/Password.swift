import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Asks for a password on the terminal.
enum Password {
    /// Asks, and reads a line that does not show while it is typed.
    ///
    /// - Parameters:
    ///   - user: Whose password it is.
    ///   - place: Where that user is known, with a space before it.
    ///   - option: The option that it may be given with.
    /// - Returns: The password.
    /// - Throws: A usage error where standard input is not a terminal, or ends before the line does.
    static func ask(for user: String, at place: String, _ option: String) throws(ToolError) -> String {
        let terminal = Descriptor.standardInput
        var settings = termios()
        guard unsafe tcgetattr(terminal, &settings) == 0 else {
            throw .usage(
                "there is no terminal to ask for a password on; give it as \(option) \(printable(user)):PASSWORD"
            )
        }
        let before = settings
        let cleanup = Cleanup.add {
            var before = before
            unsafe tcsetattr(terminal, TCSAFLUSH, &before)
            Console.standardError.print("")
        }
        defer { Cleanup.run(cleanup) }
        settings.c_lflag &= ~tcflag_t(ECHO)
        unsafe tcsetattr(terminal, TCSAFLUSH, &settings)
        // Only now, since what was typed before is thrown away.
        Console.standardError.write("Password for \(printable(user))\(place): ")
        return try readLine(terminal)
    }

    /// A byte at a time, so that what follows the line is still there for a part that is read from standard input.
    private static func readLine(_ descriptor: Int32) throws(ToolError) -> String {
        var line: [UInt8] = []
        while true {
            let byte: [UInt8]
            do {
                byte = try Descriptor.read(descriptor, limit: 1)
            } catch {
                throw .system(.inputOutput, "the terminal", "cannot be read", error.rawValue)
            }
            guard let byte = byte.first else { throw .usage("no password was given") }
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
    }
}
