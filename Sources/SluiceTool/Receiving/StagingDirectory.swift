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
/// begins with a dot, as no name of a received file does. It is taken away whatever happens, unless the process is killed.
final class StagingDirectory: Sendable {
    let descriptor: Int32
    private let inbox: Inbox
    private let name: String
    private let state = Mutex(State())
    private let cleanup = Mutex<Cleanup.Token?>(nil)

    private struct State {
        var count = 0
        var isRemoved = false
    }

    /// Makes the directory.
    ///
    /// - Parameter inbox: Where.
    /// - Throws: ``MultipartError/Code/writeFailed`` where it cannot be made.
    init(in inbox: Inbox) throws(MultipartError) {
        self.inbox = inbox
        // The name is drawn from the system's generator. That it is taken does not happen; that somebody put a link
        // there is not followed.
        name = ".sluice-" + String(UInt64.random(in: .min ... .max), radix: 36)
        let made = unsafe mkdirat(inbox.descriptor, name, 0o700) == 0
        descriptor =
            made ? unsafe openat(inbox.descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1
        guard descriptor >= 0 else {
            let number = errno
            if made { unsafe unlinkat(inbox.descriptor, name, AT_REMOVEDIR) }
            throw MultipartError(.writeFailed, "nothing can be created in it", path: inbox.path, errno: number)
        }
        let token = Cleanup.add { self.removeContents() }
        cleanup.withLock { $0 = token }
    }

    deinit {
        close(descriptor)
    }

    /// Creates a file.
    ///
    /// - Returns: Its name in here, and its descriptor, which is the caller's.
    /// - Throws: The system's error.
    func createFile() throws(Errno) -> (name: String, descriptor: Int32) {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        let file = unsafe openat(descriptor, "\(number)", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Errno(errno) }
        return ("\(number)", file)
    }

    /// Takes away the directory and what is in it.
    func remove() {
        if let token = cleanup.withLock({ $0.take() }) { Cleanup.run(token) }
    }

    private func removeContents() {
        state.withLock { state in
            guard !state.isRemoved else { return }
            state.isRemoved = true
            for number in 0..<state.count { unsafe unlinkat(descriptor, "\(number + 1)", 0) }
            unsafe unlinkat(inbox.descriptor, name, AT_REMOVEDIR)
        }
    }
}
