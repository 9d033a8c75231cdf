import Sluice
internal import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A directory that only this user can look into, in which files lie until they are all there.
///
/// It is within the one that the files are meant for, so that they only have to be renamed; its name cannot be guessed and
/// begins with a dot, as no name of a received file does. It is taken away whatever happens, unless the process is killed:
/// see ``StagingLeftovers``.
final class StagingDirectory: Sendable {
    private let inbox: Inbox
    private let prefix: String
    /// Apart from the state, whose lock is held while paths are asked for.
    private let name = Mutex("")
    private let state = Mutex(State())
    private let cleanup = Mutex<Cleanup.Token?>(nil)

    private struct State {
        /// -1 until it is made.
        var descriptor: Int32 = -1
        var count = 0
        /// What stays, and the directory with it.
        var kept: [String] = []
        var isRemoved = false
    }

    /// Makes the directory.
    ///
    /// - Parameters:
    ///   - inbox: Where.
    ///   - holdsOld: Whether files that are replaced may come to lie in it, which are not to be lost.
    /// - Throws: ``MultipartError/Code/writeFailed`` where it cannot be made.
    init(in inbox: Inbox, holdsOld: Bool) throws(MultipartError) {
        self.inbox = inbox
        prefix = holdsOld ? ".sluice-" : Self.prefixOfNew
        // Before there is anything, so that no signal finds something that nobody removes.
        let token = Cleanup.add { self.removeContents() }
        cleanup.withLock { $0 = token }
        do throws(Errno) {
            try make()
        } catch {
            Cleanup.forget(token)
            throw MultipartError(
                .writeFailed,
                "nothing can be created in it",
                path: inbox.path,
                errno: error.rawValue
            )
        }
    }

    private func make() throws(Errno) {
        try state.withLock { state throws(Errno) in
            if state.isRemoved { throw .canceled }
            // Again where whoever looks for leftovers was quicker than the lock.
            for _ in 0..<10 where state.descriptor < 0 { try make(&state) }
            if state.descriptor < 0 { throw .wouldBlock }
        }
    }

    private func make(_ state: inout State) throws(Errno) {
        // Drawn from the system's generator. That it is taken does not happen; that somebody put a link there is not
        // followed.
        let name = prefix + String(UInt64.random(in: .min ... .max), radix: 36)
        try SystemCalls.makeDirectory(name, in: inbox.descriptor, mode: 0o700)
        let descriptor: Int32
        do throws(Errno) {
            descriptor = try SystemCalls.openDirectory(name, in: inbox.descriptor, followingLinks: false)
        } catch {
            if error == .notFound { return }
            unsafe unlinkat(inbox.descriptor, name, AT_REMOVEDIR)
            throw error
        }
        // Where the file system knows no locks, nobody else gets one either.
        let isLocked = (try? SystemCalls.lock(descriptor)) != false
        guard isLocked, (try? SystemCalls.details(of: descriptor))?.linkCount != 0 else {
            SystemCalls.close(descriptor)
            return
        }
        self.name.withLock { $0 = name }
        state.descriptor = descriptor
    }

    deinit {
        let descriptor = state.withLock { $0.descriptor }
        if descriptor >= 0 { close(descriptor) }
    }

    /// Creates a file.
    ///
    /// - Returns: Its name in here, and its descriptor, which is the caller's.
    /// - Throws: The system's error.
    func createFile() throws(Errno) -> (name: String, descriptor: Int32) {
        try state.withLock { state throws(Errno) in
            if state.isRemoved { throw .canceled }
            let name = "\(state.count + 1)"
            let file = try SystemCalls.createFile(name, in: state.descriptor)
            state.count += 1
            return (name, file)
        }
    }

    /// Does something that a signal must not interrupt: whoever takes the directory away waits meanwhile.
    ///
    /// - Parameter body: What to do, with the directory's descriptor, and the names of the files in it that are to stay, and
    ///   the directory with them; at first none.
    /// - Throws: ``MultipartError/Code/cancelled`` where it is gone, and what `body` throws.
    func withoutInterruption(
        _ body: (Int32, inout [String]) throws(MultipartError) -> Void
    ) throws(MultipartError) {
        try state.withLock { state throws(MultipartError) in
            if state.isRemoved { throw MultipartError(.cancelled, "the tool is being ended", path: inbox.path) }
            try body(state.descriptor, &state.kept)
        }
    }

    /// How the name of a directory begins in which there are only new files, made on this machine: locks may say nothing
    /// of other machines.
    static let prefixOfNew: String = {
        // With a zero at its end, whatever the system thinks of longer names.
        var name = [CChar](repeating: 0, count: 257)
        let isKnown = unsafe gethostname(&name, name.count - 1) == 0
        let host = isKnown ? name.prefix { $0 != 0 }.map { Character(Unicode.Scalar(UInt8(bitPattern: $0))) } : []
        return ".sluice-new-\(String(host.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }.prefix(64)))-"
    }()

    /// Whether ``createFile()`` gives such names.
    static func isNameOfNew(_ name: String) -> Bool { name.utf8.allSatisfy { (0x30...0x39).contains($0) } }

    /// The name of what a file replaces, until it is clear that it will not come back.
    static func nameOfOld(_ name: String) -> String { "\(name).old" }

    /// The path of a file in it.
    func path(of file: String) -> String { inbox.path(of: "\(name.withLock { $0 })/\(file)") }

    /// Takes away the directory and what is in it.
    func remove() {
        if let token = cleanup.withLock({ $0.take() }) { Cleanup.run(token) }
    }

    private func removeContents() {
        state.withLock { state in
            guard !state.isRemoved else { return }
            state.isRemoved = true
            guard state.descriptor >= 0 else { return }
            for number in 0..<state.count {
                let names = ["\(number + 1)", Self.nameOfOld("\(number + 1)")]
                for name in names where !state.kept.contains(name) { unsafe unlinkat(state.descriptor, name, 0) }
            }
            unsafe unlinkat(inbox.descriptor, name.withLock { $0 }, AT_REMOVEDIR)
        }
    }
}
